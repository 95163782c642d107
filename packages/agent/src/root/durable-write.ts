import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { systemCode } from "./system-code.ts";

const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** Makes names that were created in, renamed into or removed from a directory survive a power loss. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Replaces a file, 0600 unless told. A crash at any moment leaves the whole old file or the whole new one: the bytes are
 * on disk before the name points at them, and the name is on disk before this resolves.
 */
export async function writeDurably(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** The same for JSON, indented, because people read these files. */
export async function writeJsonDurably(path: string, value: unknown): Promise<void> {
  await writeDurably(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Moves a file inside one file system; it is under one of the two names whatever happens. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/** Removes a file for good; that it was gone already is no error. */
export async function removeDurably(path: string): Promise<void> {
  try {
    await rm(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  await syncDirectory(dirname(path));
}

/**
 * mkdir -p, 0700, each level that it makes fsynced into its parent. Level by level, because Node's own recursion never
 * ends where a parent is there and refuses new entries with ENOENT, as /proc does.
 */
export async function makeDirectory(path: string): Promise<void> {
  const wanted = resolve(path);
  if (existsSync(wanted)) return;
  await makeDirectory(dirname(wanted));
  try {
    await mkdir(wanted, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  await syncDirectory(dirname(wanted));
}

/** Removes what a killed process left between writing and renaming. Only while nobody writes to the directory. */
export async function sweepTemporaryFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (TEMPORARY.test(name)) await rm(join(directory, name), { force: true });
  }
}
