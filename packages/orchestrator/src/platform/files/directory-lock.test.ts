import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tryLockDirectory } from "./directory-lock.ts";
import type { DirectoryLock } from "./directory-lock.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lock-"));
});
afterEach(() => rm(directory, { recursive: true }));

async function mustLock(role: "serve" | "command"): Promise<DirectoryLock> {
  const attempt = await tryLockDirectory(directory, role);
  if (!("lock" in attempt)) throw new Error("the directory is locked");
  return attempt.lock;
}

test("one holder at a time, who is named to the others, and free again after release", async () => {
  const first = await mustLock("serve");
  expect(await tryLockDirectory(directory, "command")).toEqual({
    holder: { pid: process.pid, role: "serve" },
  });
  await first.release();
  const second = await mustLock("command");
  expect(await tryLockDirectory(directory, "serve")).toEqual({
    holder: { pid: process.pid, role: "command" },
  });
  await second.release();
});

test("of many that try at once exactly one gets it", async () => {
  const attempts = await Promise.all(Array.from({ length: 8 }, () => tryLockDirectory(directory, "serve")));
  const held = attempts.filter((attempt) => "lock" in attempt);
  expect(held).toHaveLength(1);
  for (const attempt of held) await attempt.lock.release();
});

test("kill -9 of the holder frees the lock although its file stays", async () => {
  const module = JSON.stringify(new URL("./directory-lock.ts", import.meta.url).href);
  const script = `const { tryLockDirectory } = await import(${module});
    globalThis.kept = await tryLockDirectory(${JSON.stringify(directory)}, "serve");
    process.stdout.write("held"); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  expect(await tryLockDirectory(directory, "serve")).toEqual({ holder: { pid: holder.pid, role: "serve" } });
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await (await mustLock("serve")).release();
});
