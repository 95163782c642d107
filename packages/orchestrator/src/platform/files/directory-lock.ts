import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../errors/errno.ts";
import { UserError } from "../errors/user-error.ts";

/** `serve` holds the lock for as long as it runs, `command` for one command of the command line. */
export type LockRole = "serve" | "command";

export interface DirectoryLock {
  readonly role: LockRole;
  release(): Promise<void>;
}

export interface LockHolder {
  pid: number;
  role: LockRole;
}

export type LockAttempt = { lock: DirectoryLock } | { holder: LockHolder | null };

const LOCK_NAME = "lock";
const FLOCK_BUSY = 75;

/**
 * Tries to become the one process that owns a data directory. The lock is flock(2) on an open file of this process, so the
 * kernel gives it back at the moment the process ends, however it ends, and a lock file left behind means nothing. The
 * file's content only tells others whom they wait for.
 */
export async function tryLockDirectory(directory: string, role: LockRole): Promise<LockAttempt> {
  const path = join(directory, LOCK_NAME);
  const file = await open(path, "a+", 0o600);
  try {
    if (!(await flock(file))) {
      await file.close();
      return { holder: await readHolder(path) };
    }
    await file.truncate(0);
    await file.write(`${JSON.stringify({ pid: process.pid, role })}\n`);
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  return { lock: { role, release: () => file.close() } };
}

/** Node has no flock(2): a child takes the lock on the file it inherits, and the open file, lock included, stays ours. */
async function flock(file: FileHandle): Promise<boolean> {
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(
      "flock",
      ["--exclusive", "--nonblock", "--conflict-exit-code", String(FLOCK_BUSY), "3"],
      {
        stdio: ["ignore", "ignore", "ignore", file.fd],
      },
    );
    child.once("error", reject);
    child.once("exit", resolve);
  }).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new UserError(
      "data_directory",
      "The program flock is missing. Install util-linux (apt-get install util-linux).",
    );
  });
  if (exitCode === 0) return true;
  if (exitCode === FLOCK_BUSY) return false;
  throw new UserError(
    "data_directory",
    "The data directory's file system cannot lock files (flock failed). Choose a local file system with ATTESTORE_DATA.",
  );
}

async function readHolder(path: string): Promise<LockHolder | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof value !== "object" || value === null || !("pid" in value) || !("role" in value)) return null;
    if (typeof value.pid !== "number" || (value.role !== "serve" && value.role !== "command")) return null;
    return { pid: value.pid, role: value.role };
  } catch {
    return null; // The holder is between taking the lock and saying who it is.
  }
}
