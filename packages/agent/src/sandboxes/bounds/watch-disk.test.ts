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

/** In a process that has no file descriptor left, and gets them back after that time. */
function withoutDescriptors(maxBytes: number, back_ms: number): string {
  const script = `
    import { closeSync, openSync } from "node:fs";
    const { holdsMore } = await import(${JSON.stringify(join(import.meta.dirname, "watch-disk.ts"))});
    const held = [];
    try { for (;;) held.push(openSync("/dev/null")); } catch {}
    const giveBack = () => held.splice(0).forEach((fd) => closeSync(fd));
    setTimeout(giveBack, ${back_ms}).unref();
    const holds = await holdsMore(${JSON.stringify(dir)}, ${maxBytes});
    giveBack();
    console.log(holds);`;
  const own = [process.execPath, "--input-type=module", "--eval", script];
  return execFileSync("prlimit", ["--nofile=64", "--", ...own], {
    encoding: "utf8",
    timeout: 60_000,
  }).trim();
}

test("without a file descriptor it waits for one, and not for ever", () => {
  expect(withoutDescriptors(1000 * KIB, 1_000)).toBe("true");
  // Nothing is known of what it could not read.
  expect(withoutDescriptors(1000 * KIB, 3_600_000)).toBe("false");
});
