import { execFileSync, spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellWord } from "../../src/text/shell-word.ts";

const WORDS = [
  "plain",
  "/srv/a_b-c/x.y",
  "ATTESTORE_DATA=/srv/data",
  "",
  "two words",
  "it's",
  "''",
  "$(id)",
  "`id`",
  "a\\b",
  "*",
  "~root",
  "=ls",
  "a;b|c&d<e>f",
  "line\nbreak",
  '"quoted"',
  "#no comment",
  "!!",
  "ü",
];

test.each(["sh", "bash"])("a shell reads each word as it was: %s", (shell) => {
  const script = `printf '%s\\0' ${WORDS.map(shellWord).join(" ")}`;
  const read = execFileSync(shell, ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
  expect(read).toEqual(WORDS);
});

test("a shell reads any text as exactly that word", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (word) => {
      fc.pre(!word.includes("\0") && word.isWellFormed());
      const { stdout } = spawnSync("sh", ["-c", `printf %s ${shellWord(word)}`]);
      expect(stdout.toString()).toBe(word);
    }),
    { numRuns: 100 },
  );
});

test("a word that needs no quotes has none", () => {
  expect(shellWord("/srv/a-b_c.d:8443,x@y%+z=1")).toBe("/srv/a-b_c.d:8443,x@y%+z=1");
});
