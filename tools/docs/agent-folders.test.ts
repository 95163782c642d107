import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSources } from "../layers/read-imports.ts";

const ROOT = join(import.meta.dirname, "../..");
const SOURCES = "packages/agent/src/";

/** The folders of docs/architecture.md's table, from the top. */
function documentedFolders(): string[] {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const [, section = ""] = /^## The agent's folders\n(.*?)^## /ms.exec(page) ?? [];
  return Array.from(section.matchAll(/^\| (`[^|]+) \|/gm), ([, cell = ""]) => cell)
    .join(", ")
    .split(", ")
    .map((name) => name.replaceAll("`", ""));
}

test("docs/architecture.md has every folder of the agent, which imports only from those above it", () => {
  const folders = documentedFolders();
  const { files, imports } = readSources(ROOT);
  const folderOf = (file: string): string => file.slice(SOURCES.length).split("/")[0] ?? "";
  const inFolders = files.filter((file) => file.startsWith(SOURCES) && !folderOf(file).includes("."));
  expect(folders.toSorted()).toEqual([...new Set(inFolders.map(folderOf))].toSorted());

  const rank = (file: string): number => (file.startsWith(SOURCES) ? folders.indexOf(folderOf(file)) : -1);
  const upwards = imports.filter(
    ({ from, to }) =>
      !from.endsWith(".test.ts") && rank(from) !== -1 && rank(to) !== -1 && rank(to) > rank(from),
  );
  expect(upwards.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});
