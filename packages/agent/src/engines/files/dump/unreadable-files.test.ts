import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

/** In memory, because this test makes many directories. */
let root: string;
beforeEach(() => {
  root = mkdtempSync("/dev/shm/attestore-unreadable-");
});
afterEach(() => rmSync(root, { recursive: true }));

const LOOK = `
  const { unreadableFiles } = await import(process.argv[1]);
  console.log(await unreadableFiles(process.argv[2], new AbortController().signal));`;

it("a directory with more directories than a function takes arguments is looked through", () => {
  // With less room for them, fewer directories are enough.
  for (let at = 0; at < 15_000; at += 1) mkdirSync(join(root, String(at)));
  const file = new URL("unreadable-files.ts", import.meta.url).href;
  const args = ["--stack-size=110", "--input-type=module", "--eval", LOOK, file, root];
  expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("null\n");
});
