import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { errorCode } from "./errno.ts";

export interface HeldLock extends Disposable {
  release(): void;
}

export interface LockHolder {
  readonly pid: number;
  /** What the holder does, as it said when it took the lock. */
  readonly what: string;
  /** RFC 3339. */
  readonly since: string;
}

/** Held locks: a connection that nobody refers to any more would be closed by the garbage collector, and its lock with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes a lock that the kernel frees when the process dies, however it dies; null if somebody else holds it. Node has no
 * flock(2). SQLite's exclusive transaction on an empty file takes an fcntl(2) lock, which also holds between two connections
 * of one process and between containers that share the directory.
 *
 * @param path without its ending: `PATH.lock` is locked, `PATH.json` tells people who did it
 */
export function tryLock(path: string, what: string): HeldLock | null {
  const database = take(path);
  if (database === null) return null;
  held.add(database);
  const holder: LockHolder = { pid: process.pid, what, since: new Date().toISOString() };
  // Who holds the lock is the kernel's knowledge, not this file's. On a full disk nobody is told.
  try {
    writeFileSync(`${path}.json`, JSON.stringify(holder), { mode: 0o600 });
  } catch (error) {
    if (errorCode(error) === null) throw error;
  }
  const release = (): void => {
    if (held.delete(database)) database.close();
  };
  return { release, [Symbol.dispose]: release };
}

/** Whether somebody holds the lock right now. It takes the lock for a moment to see. */
export function isLocked(path: string): boolean {
  const database = take(path);
  database?.close();
  return database === null;
}

/** Who took the lock last, or null if that cannot be told; they hold it only if the lock is held. */
export function lockHolder(path: string): LockHolder | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(`${path}.json`, "utf8"));
  } catch {
    // Half written, because its writer was killed or is at it.
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { pid, what, since } = value as Partial<LockHolder>;
  if (typeof pid !== "number" || typeof what !== "string" || typeof since !== "string") return null;
  return { pid, what, since };
}

/** SQLite's result codes (sqlite.org/rescode.html) for what a lock can meet. */
const SQLITE_BUSY = 5;
const CODES: Readonly<Record<number, string>> = { 8: "EACCES", 10: "ENOLCK", 13: "ENOSPC", 14: "EACCES" };

// A journal on disk is begun with the transaction, and could not be on a full one: nothing is written here that it would undo.
const TAKE = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE";

/** @throws with the `code` of the system where the file cannot be used: EACCES, or ENOLCK for a file system without locks */
function take(path: string): DatabaseSync | null {
  const file = `${path}.lock`;
  makePrivate(file);
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec(TAKE);
    return database;
  } catch (error) {
    database?.close();
    if (!(error instanceof Error) || !("errcode" in error)) throw error;
    const result = Number(error.errcode) & 0xff;
    if (result === SQLITE_BUSY) return null;
    const code = CODES[result];
    if (code === undefined) throw error;
    throw Object.assign(new Error(`${file} cannot be locked (${code})`, { cause: error }), { code });
  }
}

/**
 * A file that others may read they may lock too. Only a file that is not there is opened: closing one that this process has
 * locked would free the lock (fcntl(2)).
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
