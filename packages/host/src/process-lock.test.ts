import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isLocked, lockHolder, tryLock } from "./process-lock.ts";

const MODULE = JSON.stringify(new URL("./process-lock.ts", import.meta.url).href);

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "process-lock-"));
  path = join(directory, "owner");
});
afterEach(() => rmSync(directory, { recursive: true }));

/**
 * A second process that tries to take the lock, reports the result, and keeps a lock that it got.
 */
async function rival(options: { uid?: number } = {}) {
  const child = spawn(
    process.execPath,
    [
      "--expose-gc",
      "--input-type=module",
      "-e",
      `const { tryLock } = await import(${MODULE});
       let said;
       try { said = tryLock(${JSON.stringify(path)}, "serve") === null ? "refused" : "held"; } catch (error) { said = error.code; }
       globalThis.gc();
       process.stdout.write(said);
       setInterval(() => {}, 1e6);`,
    ],
    { stdio: ["ignore", "pipe", "inherit"], ...options },
  );
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const kill9 = async (): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { said: said.toString(), pid: child.pid, kill9 };
}

test("a lock has one holder at a time, even within a process; others learn its name; release frees it", () => {
  const first = tryLock(path, "serve");
  expect(first).not.toBeNull();
  expect(tryLock(path, "command")).toBeNull();
  expect(isLocked(path)).toBe(true);
  expect(lockHolder(path)).toMatchObject({ pid: process.pid, what: "serve" });
  first?.release();
  first?.release();
  expect(isLocked(path)).toBe(false);
  const second = tryLock(path, "command");
  expect(second).not.toBeNull();
  expect(lockHolder(path)).toMatchObject({ what: "command" });
  second?.release();
});

test("another process is refused however often this one looks, and kill -9 of the holder frees the lock", async () => {
  const mine = tryLock(path, "command");
  // If a process closes a second open file of the same path, it frees the fcntl lock of the first.
  for (let look = 0; look < 3; look++) expect(isLocked(path)).toBe(true);
  const refused = await rival();
  expect(refused.said).toBe("refused");
  await refused.kill9();
  mine?.release();

  // Drop the reference to the lock and collect garbage.
  const holder = await rival();
  expect(holder.said).toBe("held");
  expect(tryLock(path, "command")).toBeNull();
  expect(lockHolder(path)).toMatchObject({ pid: holder.pid, what: "serve" });
  await holder.kill9();
  expect(isLocked(path)).toBe(false);
});

test("exactly one of many competing processes gets the lock", async () => {
  const rivals = await Promise.all(Array.from({ length: 6 }, () => rival()));
  expect(rivals.map(({ said }) => said).toSorted()).toEqual(["held", ...Array(5).fill("refused")]);
  for (const each of rivals) await each.kill9();
});

test("a user who cannot read the file cannot lock it and gets a permission error", async () => {
  chmodSync(directory, 0o777);
  tryLock(path, "serve")?.release();
  expect(statSync(`${path}.lock`).mode & 0o777).toBe(0o600);
  const stranger = await rival({ uid: 65534 });
  expect(stranger.said).toBe("EACCES");
  await stranger.kill9();
});

test("a user who may read the file but not write to it does not hold the lock beside its holder", async () => {
  chmodSync(directory, 0o777);
  const mine = tryLock(path, "serve");
  mine?.release();
  // As after a restore as root, or `chmod -R a+rX`.
  chmodSync(`${path}.lock`, 0o644);
  const strangers = [await rival({ uid: 65534 }), await rival({ uid: 65534 })];
  for (const stranger of strangers) await stranger.kill9();
  expect(strangers.map(({ said }) => said)).toEqual(["EACCES", "EACCES"]);
});

test("a lock that cannot be looked at is not called free", () => {
  expect(isLocked(path)).toBe(false);
  symlinkSync(`${path}.lock`, `${path}.lock`);
  expect(() => isLocked(path)).toThrow("ELOOP");
});

test("a lock can be taken even if the holder's name cannot be written, such as on a full disk", () => {
  mkdirSync(`${path}.json`);
  const held = tryLock(path, "serve");
  expect(held).not.toBeNull();
  expect(lockHolder(path)).toBeNull();
  held?.release();
});

test("a half-written holder's note is ignored", () => {
  writeFileSync(`${path}.json`, '{"pid": 1');
  expect(lockHolder(path)).toBeNull();
});
