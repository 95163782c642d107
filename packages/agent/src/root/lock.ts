import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { readJson } from "./read-json.ts";
import type { Layout } from "./layout.ts";
import { systemCode } from "./system-code.ts";
import { UserError } from "./user-error.ts";

/**
 * - `run`: one agent service a root;
 * - `work`: a backup, a restore test, anything that touches blobs/, scratch/ or the chain of receipts;
 * - `spool`: submitting what waits;
 * - `chain`: signing the next receipt or event, for as long as that takes;
 * - `log`: reading and advancing the kept head.
 */
export type LockName = "run" | "work" | "spool" | "chain" | "log";

export interface HeldLock extends Disposable {
  release(): void;
}

export interface LockHolder {
  readonly pid: number;
  readonly what: string;
  readonly since: string;
}

/**
 * Takes a lock that the kernel frees when the process dies, however it dies. Node has no flock(2); SQLite's exclusive
 * transaction on an empty file takes an fcntl(2) lock, also between two connections of one process, and works where
 * containers share the root, which an abstract socket would not. Null if somebody else holds it.
 */
export function tryLock(layout: Layout, name: LockName, what: string): HeldLock | null {
  const database = new DatabaseSync(lockFile(layout, name), { timeout: 0 });
  try {
    database.exec(TAKE);
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  const holder: LockHolder = { pid: process.pid, what, since: new Date().toISOString() };
  // Only told to people: who holds the lock is the kernel's knowledge, not this file's. On a full disk nobody is told.
  try {
    writeFileSync(holderFile(layout, name), JSON.stringify(holder), { mode: 0o600 });
  } catch (error) {
    if (systemCode(error) === null) throw error;
  }
  const release = (): void => {
    if (database.isOpen) database.close();
  };
  return { release, [Symbol.dispose]: release };
}

export interface LockPatience {
  readonly signal: AbortSignal;
  /** Told once, when there is somebody to wait for. */
  readonly onWait?: (holder: LockHolder | null) => void;
}

/** Takes the lock, waiting for whoever holds it. Rejects with the signal's reason when it fires. */
export async function waitForLock(
  layout: Layout,
  name: LockName,
  what: string,
  patience: LockPatience,
): Promise<HeldLock> {
  let told = false;
  for (;;) {
    patience.signal.throwIfAborted();
    const lock = tryLock(layout, name, what);
    if (lock !== null) return lock;
    if (!told) {
      told = true;
      patience.onWait?.(await lockHolder(layout, name));
    }
    await pause(100, undefined, { signal: patience.signal });
  }
}

const LOOKS = 3;

/** @throws UserError locked, which names the holder. */
export async function lockOrRefuse(layout: Layout, name: LockName, what: string): Promise<HeldLock> {
  // `status` and `doctor` look by taking it for a moment: what they hold is nobody's run.
  for (let attempt = 1; attempt <= LOOKS; attempt++) {
    const lock = tryLock(layout, name, what);
    if (lock !== null) return lock;
    if (attempt < LOOKS) await pause(50);
  }
  throw new UserError(
    "locked",
    `${describeHolder(await lockHolder(layout, name))} works on ${layout.root} already. ` +
      "Wait for it, stop it, or name another root with --root DIR.",
  );
}

/** Whether somebody holds the lock right now. */
export function isLocked(layout: Layout, name: LockName): boolean {
  const database = new DatabaseSync(lockFile(layout, name), { timeout: 0 });
  try {
    database.exec(TAKE);
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

/** Who took the lock last; they hold it only if the lock is held. */
export async function lockHolder(layout: Layout, name: LockName): Promise<LockHolder | null> {
  let value: unknown;
  try {
    value = await readJson(holderFile(layout, name));
  } catch {
    // Half written, because its writer was killed or is at it.
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { pid, what, since } = value as Partial<LockHolder>;
  if (typeof pid !== "number" || typeof what !== "string" || typeof since !== "string") return null;
  return { pid, what, since };
}

export function describeHolder(holder: LockHolder | null): string {
  return holder === null
    ? "another attestore"
    : `\`attestore ${holder.what}\` (process ${holder.pid}, since ${holder.since})`;
}

function lockFile(layout: Layout, name: LockName): string {
  return join(layout.locks, `${name}.lock`);
}

function holderFile(layout: Layout, name: LockName): string {
  return join(layout.locks, `${name}.json`);
}

// A journal on disk is begun with the transaction, and could not be on a full one: nothing is written here that it would undo.
const TAKE = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE";

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
