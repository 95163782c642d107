import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/recover.md"), "utf8");

/** The one block of shell commands of docs/recover.md that has these words. */
export function shellBlock(words: string): string {
  const found = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block = ""]) => block)
    .filter((block) => block.includes(words));
  expect(found, words).toHaveLength(1);
  return found[0] ?? "";
}

/** What a section of the page tells somebody to type at a console, block by block. */
export function consoleBlocks(heading: string): string[] {
  const [, section] = PAGE.split(`\n### ${heading}\n`);
  if (section === undefined) throw new Error(`docs/recover.md has no section ${heading}`);
  const text = section.split(/^##/m)[0] ?? "";
  return [...text.matchAll(/^ *```console\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) =>
    block.replaceAll(/^ +/gm, ""),
  );
}

/** The file of settings that a section shows. */
export function yamlBlock(heading: string): string {
  const text = PAGE.split(`\n### ${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
  const [, indent = "", block = ""] = /^( *)```yaml\n([\s\S]*?)^ *```/m.exec(text) ?? [];
  return block.replaceAll(new RegExp(`^${indent}`, "gm"), "");
}
