import { join } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { lockHolder, tryLock } from "@attestore/host/process-lock";
import type { HeldLock } from "@attestore/host/process-lock";
import { UserError } from "../errors/user-error.ts";

/** `serve` holds the lock while it runs, `command` for one command of the command line. */
export type LockRole = "serve" | "command";

export interface DirectoryHolder {
  pid: number;
  role: LockRole;
}

export type LockAttempt = { lock: HeldLock } | { holder: DirectoryHolder | null };

/** Tries to become the one process that owns a data directory. */
export function tryLockDirectory(directory: string, role: LockRole): LockAttempt {
  const path = join(directory, "owner");
  const lock = takeLock(path, role);
  if (lock !== null) return { lock };
  const holder = lockHolder(path);
  if (holder === null || (holder.what !== "serve" && holder.what !== "command")) return { holder: null };
  return { holder: { pid: holder.pid, role: holder.what } };
}

function takeLock(path: string, role: LockRole): HeldLock | null {
  try {
    return tryLock(path, role);
  } catch (error) {
    if (errorCode(error) !== "ENOLCK") throw error;
    throw new UserError(
      "data_directory",
      "The data directory's file system cannot lock files. Choose a local file system with ATTESTORE_DATA.",
      { cause: error },
    );
  }
}
