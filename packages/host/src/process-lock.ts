import { accessSync, closeSync, constants, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { errorCode } from "./errno.ts";

export interface HeldLock extends Disposable {
  release(): void;
}

export interface LockHolder {
  readonly pid: number;
  /** The holder's current work, as given when it took the lock. */
  readonly what: string;
  /** RFC 3339. */
  readonly since: string;
}

/**
 * Held locks. Without this reference, the garbage collector would close the connection and free the
 * lock.
 */
const held = new Set<DatabaseSync>();

/**
 * Takes a lock that the kernel frees when the process dies, however it dies; null if somebody else
 * holds it. Node has no flock(2). SQLite's exclusive transaction on an empty file takes an fcntl(2)
 * lock, which also holds between two connections of one process and between containers that share
 * the directory.
 *
 * @param path without its ending: `PATH.lock` is locked, `PATH.json` tells people who took it
 */
export function tryLock(path: string, what: string): HeldLock | null {
  const database = take(path, TAKE);
  if (database === null) return null;
  held.add(database);
  const holder: LockHolder = { pid: process.pid, what, since: new Date().toISOString() };
  // The kernel knows who holds the lock; this file only informs people, and cannot be written on a
  // full disk.
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

/**
 * Whether somebody holds the lock right now. Takes the lock for a moment to find out; also where
 * its file can only be read.
 */
export function isLocked(path: string): boolean {
  // Nobody has taken it yet, and where nothing can be written nobody can. A directory that can't be
  // entered says nothing: this throws then.
  if (statSync(`${path}.lock`, { throwIfNoEntry: false }) === undefined) return false;
  const database = take(path, LOOK);
  database?.close();
  return database === null;
}

/**
 * The process that took the lock last, or null if unknown. It holds the lock only if the lock is
 * held.
 */
export function lockHolder(path: string): LockHolder | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(`${path}.json`, "utf8"));
  } catch {
    // Half written: its writer was killed or is still writing.
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { pid, what, since } = value as Partial<LockHolder>;
  if (typeof pid !== "number" || typeof what !== "string" || typeof since !== "string") return null;
  return { pid, what, since };
}

/** SQLite's result codes (sqlite.org/rescode.html) that a lock can meet. */
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const CODES: Readonly<Record<number, string>> = { 8: "EACCES", 10: "ENOLCK", 13: "ENOSPC", 14: "EACCES" };

// Keep the journal in memory: on disk it would fail when the disk is full, and there is nothing to
// roll back.
const LOOK = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE";
// SQLite opens a file that it may only read for reading, and its exclusive transaction there
// excludes nobody. The change, which is never committed, fails for such a file.
const TAKE = `${LOOK}; PRAGMA user_version = 1`;

/**
 * @throws with the `code` of the system where the file cannot be used: EACCES or EROFS where it
 * can't be written, or ENOLCK for a file system without locks
 */
function take(path: string, statements: string): DatabaseSync | null {
  const file = `${path}.lock`;
  makePrivate(file);
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec(statements);
    return database;
  } catch (error) {
    database?.close();
    if (!(error instanceof Error) || !("errcode" in error)) throw error;
    const result = Number(error.errcode) & 0xff;
    if (result === SQLITE_BUSY) return null;
    const code = result === SQLITE_READONLY && isReadOnly(file) ? "EROFS" : CODES[result];
    if (code === undefined) throw error;
    throw Object.assign(new Error(`${file} cannot be locked (${code})`, { cause: error }), {
      code,
      path: file,
      syscall: "fcntl",
    });
  }
}

/** The file system, not the file: then nobody may write, not even root. */
function isReadOnly(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return false;
  } catch (error) {
    return errorCode(error) === "EROFS";
  }
}

/**
 * Creates the file with mode 0600: anyone who may read it may also lock it. Opens the file only if
 * it does not exist, because closing a file that this process has locked would free the lock
 * (fcntl(2)).
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
