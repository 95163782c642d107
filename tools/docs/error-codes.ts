import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;
const UNION = /export type \w*(?:Code|AlarmReason) =([^;]*);/g;
/** Codes of errors that have one code each. */
const SINGLE = /(?:readonly code = |\bcode: (?="defect")|\breason: (?="internal"))("[a-z_]+")/g;

/** The text of each file of a package's source, tests left out. */
export function sourcesOf(name: string): string[] {
  const source = join(ROOT, "packages", name, "src");
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join(source, path), "utf8"));
}

/**
 * The error codes that a package's source declares: its unions called …Code, and those of single
 * errors. Sorted, each once.
 */
export function declaredCodes(name: string): string[] {
  const codes = sourcesOf(name).flatMap((text) => {
    const code = text.replaceAll(/\/\*[^]*?\*\//g, "");
    const unions = [...code.matchAll(UNION)].map(([, members = ""]) => members);
    const singles = [...code.matchAll(SINGLE)].map(([, each = ""]) => each);
    return [...unions, ...singles].flatMap((part) =>
      [...part.matchAll(/"([a-z_0-9]+)"/g)].map(([, each = ""]) => each),
    );
  });
  return [...new Set(codes)].toSorted();
}

/** A page of docs/. */
export function readPage(name: string): string {
  return readFileSync(join(ROOT, "docs", name), "utf8");
}

/** The text under a heading of the second level, up to the next one. */
export function sectionOf(page: string, heading: string): string {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`there is no section "${heading}"`);
  return section;
}

/** The rows of all tables in a text, as their cells. */
export function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The codes that a table's first cells name, in order. */
export function codesIn(text: string): string[] {
  return rowsOf(text).flatMap(([first = ""]) =>
    [...first.matchAll(/`([a-z_0-9]+)`/g)].map(([, code = ""]) => code),
  );
}
