import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const WIDTH = 100;

/** Prose in a line of its own; examples and tables are indented or aligned by two spaces. */
const PROSE = /^\s*(?:\/\/|\/\*\*|\*(?!\/)) (?!\s|[|#]|oxlint|@ts-)(?!.* {2})/;

test(`lines of comments end within ${WIDTH} columns`, () => {
  const files = execFileSync("git", ["ls-files", "-z", "*.ts", "*.tsx"], { cwd: ROOT, encoding: "utf8" })
    .split("\0")
    .filter((name) => name !== "");
  expect(files.length).toBeGreaterThan(1000);
  const wide = files.flatMap((name) =>
    readFileSync(join(ROOT, name), "utf8")
      .split("\n")
      .flatMap((line, at) =>
        line.length > WIDTH && PROSE.test(line) && line.includes(" ", WIDTH / 2) ? [`${name}:${at + 1}`] : [],
      ),
  );
  expect(wide).toEqual([]);
});
