import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { layoutOf, makeLayout, type Layout } from "./layout.ts";
import { isLocked, lockOrRefuse, tryLock, waitForLock } from "./lock.ts";

let layout: Layout;

beforeEach(async () => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), "attestore-lock-")));
  await makeLayout(layout);
});
afterEach(() => {
  rmSync(layout.root, { recursive: true });
});

/** Another process that takes the lock, says so, and never gives it back. */
async function holderProcess(): Promise<{ kill9: () => Promise<void>; pid: number }> {
  const code = `
    import { layoutOf } from ${JSON.stringify(new URL("./layout.ts", import.meta.url).href)};
    import { tryLock } from ${JSON.stringify(new URL("./lock.ts", import.meta.url).href)};
    globalThis.kept = tryLock(layoutOf(${JSON.stringify(layout.root)}), "work", "backup");
    process.stdout.write(globalThis.kept === null ? "refused" : "held");
    setInterval(() => {}, 1e6);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(said.toString()).toBe("held");
  return {
    pid: child.pid ?? 0,
    kill9: async () => {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

it("a lock is held by one holder at a time, even inside one process, and is free after release", () => {
  const first = tryLock(layout, "work", "backup");
  expect(first).not.toBeNull();
  expect(tryLock(layout, "work", "restore-test")).toBeNull();
  expect(tryLock(layout, "spool", "sync")).not.toBeNull();
  first?.release();
  first?.release();
  const second = tryLock(layout, "work", "restore-test");
  expect(second).not.toBeNull();
  second?.release();
});

it("a lock that another process holds is refused with that process's name, and freed by kill -9", async () => {
  const holder = await holderProcess();
  expect(isLocked(layout, "work")).toBe(true);
  await expect(lockOrRefuse(layout, "work", "run")).rejects.toMatchObject({
    code: "locked",
    message: expect.stringContaining(`\`attestore backup\` (process ${holder.pid}, since `),
  });
  await holder.kill9();
  expect(isLocked(layout, "work")).toBe(false);
  (await lockOrRefuse(layout, "work", "run")).release();
});

it("a process that waits for a lock reports the holder and can be aborted", async () => {
  const holder = await holderProcess();
  const told: unknown[] = [];
  const waiting = waitForLock(layout, "work", "backup", {
    signal: AbortSignal.timeout(20_000),
    onWait: (whom) => {
      told.push(whom?.pid);
      void holder.kill9();
    },
  });
  const lock = await waiting;
  expect(told).toEqual([holder.pid]);

  const stop = new AbortController();
  const given_up = waitForLock(layout, "work", "backup", {
    signal: stop.signal,
    onWait: () => stop.abort(),
  });
  await expect(given_up).rejects.toMatchObject({ name: "AbortError" });
  lock.release();
});

it("a lock is taken even where the holder's name cannot be written, such as on a full disk", () => {
  mkdirSync(join(layout.locks, "work.json"));
  const held = tryLock(layout, "work", "backup");
  expect(held).not.toBeNull();
  expect(isLocked(layout, "work")).toBe(true);
  held?.release();
  expect(isLocked(layout, "work")).toBe(false);
});
