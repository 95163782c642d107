import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { holdsMore, watchDisk } from "./watch-disk.ts";

const KIB = 1024;
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "watch-disk-"));
  mkdirSync(join(dir, "a", "b"), { recursive: true });
  writeFileSync(join(dir, "a", "b", "file"), Buffer.alloc(1024 * KIB, 1));
  linkSync(join(dir, "a", "b", "file"), join(dir, "again"));
  symlinkSync("/", join(dir, "out"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

/** Of another place, without du(1), which is also what a host looks like that starts no process. */
const withoutDu = (): unknown => vi.stubEnv("PATH", join(dir, "a"));

test.each([
  ["with du", () => undefined],
  ["without it", withoutDu],
])("a directory is measured, each file once, %s", async (_, before) => {
  before();
  expect(await holdsMore(dir, 1000 * KIB)).toBe(true);
  expect(await holdsMore(dir, 1100 * KIB)).toBe(false);
  expect(await watchDisk(dir, 1000 * KIB, AbortSignal.timeout(60_000))).toBe("disk");
});

test("a directory whose path is too long for one call hides nothing beside it", async () => {
  execFileSync(
    "python3",
    ["-c", 'import os\nfor _ in range(30):\n  os.mkdir("n" * 200)\n  os.chdir("n" * 200)'],
    { cwd: join(dir, "a") },
  );
  withoutDu();
  expect(await holdsMore(dir, 1000 * KIB)).toBe(true);
});
