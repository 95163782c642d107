import { expect, test } from "vitest";
import { type Child, startChild } from "../../../processes/child.ts";
import { entriesToRestore } from "./entries-to-restore.ts";

test("a list that is longer than any text can be is read line by line", async () => {
  const line = `9; 1259 16400 TABLE tools ${"t".repeat(4_000)} shop`;
  // 560 MB.
  const long = (): Promise<Child> =>
    startChild({
      command: "sh",
      args: ["-c", `yes "$1" | head -n 140000`, "sh", line],
      signal: new AbortController().signal,
    });
  const { entries } = await entriesToRestore({ unrestored: null, schemas: new Set(["tools"]) }, long);
  expect(entries).toBe("9;\n".repeat(140_000));
});
