import { spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTrouble } from "./file-trouble.ts";

function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("it should have failed");
}

test("what the system refused is said with the file and what to do", () => {
  const directory = mkdtempSync(join(tmpdir(), "file-trouble-"));
  writeFileSync(join(directory, "file"), "");
  const below = join(directory, "file", "below");
  expect(fileTrouble(failure(() => openSync(below, "r")))).toBe(
    `${below} cannot be used (ENOTDIR): something in its path is a file and must be a directory. Move that away.`,
  );
  // Node does not say which directory it was.
  expect(fileTrouble(failure(() => readFileSync(directory)))).toMatch(/EISDIR.*must be a file/);
  expect(fileTrouble(failure(() => writeFileSync("/dev/full", "x")))).toMatch(/no room left.*Make room/);
  rmSync(directory, { recursive: true });
});

test("a program or a process that this user may not use is no file to give away", () => {
  const directory = mkdtempSync(join(tmpdir(), "file-trouble-"));
  writeFileSync(join(directory, "program"), "", { mode: 0o644 });
  const { error } = spawnSync(join(directory, "program"));
  expect(error).toMatchObject({ code: "EACCES" });
  expect(fileTrouble(error)).toBeNull();
  rmSync(directory, { recursive: true });
});

test("a file that is missing, and any error of ours, is no such trouble", () => {
  expect(fileTrouble(failure(() => openSync("/none/at/all", "r")))).toBeNull();
  expect(fileTrouble(Object.assign(new Error("x"), { code: "EACCES" }))).toBeNull();
  expect(fileTrouble(new TypeError("x"))).toBeNull();
});
