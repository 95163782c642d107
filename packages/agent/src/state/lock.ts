import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as host from "@attestore/host/process-lock";
import type { HeldLock, LockHolder } from "@attestore/host/process-lock";
import type { Layout } from "./layout.ts";
import { UserError } from "../errors/user-error.ts";

export type { HeldLock };

/**
 * - `run`: one agent service for each root;
 * - `work`: a backup, a restore test, anything that touches blobs/, scratch/ or the chain of
 * receipts;
 * - `spool`: submitting what waits;
 * - `chain`: signing the next receipt or event;
 * - `log`: reading and advancing the kept head;
 * - `config`: the moment in which a program replaces config.yaml.
 */
export type LockName = "run" | "work" | "spool" | "chain" | "log" | "config";

/** Null if somebody else holds it. */
export function tryLock(layout: Layout, name: LockName, what: string): HeldLock | null {
  return host.tryLock(pathOf(layout, name), what);
}

export interface LockPatience {
  readonly signal: AbortSignal;
  /** Called once, if there is somebody to wait for. */
  readonly onWait?: (holder: LockHolder | null) => void;
}

/** Takes the lock, waiting for its holder. Rejects with the signal's reason when it fires. */
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
      patience.onWait?.(host.lockHolder(pathOf(layout, name)));
    }
    await pause(100, undefined, { signal: patience.signal });
  }
}

const LOOKS = 3;

/** @throws UserError locked, which names the holder. */
export async function lockOrRefuse(layout: Layout, name: LockName, what: string): Promise<HeldLock> {
  // `status` and `doctor` check a lock by taking it for a moment; that counts as nobody's run.
  for (let attempt = 1; attempt <= LOOKS; attempt++) {
    const lock = tryLock(layout, name, what);
    if (lock !== null) return lock;
    if (attempt < LOOKS) await pause(50);
  }
  throw new UserError(
    "locked",
    `${describeHolder(host.lockHolder(pathOf(layout, name)))} works on ${layout.root} already. ` +
      "Wait for it, stop it, or name another root with --root DIR.",
  );
}

/** Whether somebody holds the lock at the moment. */
export function isLocked(layout: Layout, name: LockName): boolean {
  return host.isLocked(pathOf(layout, name));
}

/** The process that took the lock last; it only holds it if the lock is held. */
export function lockHolder(layout: Layout, name: LockName): LockHolder | null {
  return host.lockHolder(pathOf(layout, name));
}

export function describeHolder(holder: LockHolder | null): string {
  return holder === null
    ? "another attestore"
    : `\`attestore ${holder.what}\` (process ${holder.pid}, since ${holder.since})`;
}

function pathOf(layout: Layout, name: LockName): string {
  return join(layout.locks, name);
}
