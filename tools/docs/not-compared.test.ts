import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { codesIn, readPage } from "./error-codes.ts";

const SOURCE = new URL("../../packages/agent/src/engines/content/not-compared.ts", import.meta.url);

test("docs/formats.md says what each reason means why the agent did not compare a table", () => {
  const declared = [...readFileSync(SOURCE, "utf8").matchAll(/^ {2}\| "([a-z_]+)"/gm)].map(
    ([, why = ""]) => why,
  );
  const section = readPage("formats.md").split("### Why a table was not compared")[1]?.split("\n### ")[0];
  // Only backups of earlier agents have this one.
  const told = codesIn(section ?? "").filter((why) => why !== "large_objects");
  expect(told.toSorted()).toEqual(declared.toSorted());
});
