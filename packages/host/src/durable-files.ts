import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "./errno.ts";

const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

export interface WriteOptions {
  /** Permission bits of the new file; 0o600 by default. */
  mode?: number;
}

/**
 * Names the file or directory that could not be written. The system's error names none for a write
 * or a sync, and the temporary one for an open.
 */
function naming(error: unknown, path: string): unknown {
  return error instanceof Error && errorCode(error) !== null ? Object.assign(error, { path }) : error;
}

/**
 * Syncs a directory, so that names created in it, renamed into it or removed from it survive a
 * power loss.
 */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } catch (error) {
    throw naming(error, path);
  } finally {
    await directory.close();
  }
}

/**
 * A temporary name in the same directory, and so the same file system, that `sweepTemporaryFiles`
 * recognises.
 */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
}

async function writeTemporary(path: string, content: string | Uint8Array, mode: number): Promise<string> {
  const temporary = temporaryName(path);
  const file = await open(temporary, "wx", mode).catch((error: unknown) => {
    throw naming(error, path);
  });
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw naming(error, path);
  } finally {
    await file.close();
  }
  return temporary;
}

/**
 * Replaces a file. After a crash at any moment, either the whole old file or the whole new one
 * exists: the bytes are on disk before the name points to them, and the name is on disk before this
 * resolves.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const temporary = await writeTemporary(path, content, options.mode ?? 0o600);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw naming(error, path);
  }
  await syncDirectory(dirname(path));
}

/** The same for JSON, indented because people read these files. */
export async function replaceJsonFile(path: string, value: unknown): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Creates a file only if it does not exist. Returns false, and changes nothing, if it does. link(2)
 * decides between two processes that try at once, so both read back the same content.
 */
export async function createFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<boolean> {
  const temporary = await writeTemporary(path, content, options.mode ?? 0o600);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw naming(error, path);
  } finally {
    await unlink(temporary);
    await syncDirectory(dirname(path));
  }
}

/**
 * Moves a file or directory within one file system. After a crash it has exactly one of the two
 * names.
 */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/** Removes a file durably. A file that is already gone is not an error. */
export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  await syncDirectory(dirname(path));
}

/**
 * Like mkdir -p, and syncs each new level into its parent. The mode applies to new levels only.
 * Does not use Node's `recursive`, which never returns if a parent refuses directories (/proc).
 */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  const wanted = resolve(path);
  if (await isDirectory(wanted)) return;
  if (dirname(wanted) !== wanted) await makeDirectory(dirname(wanted), mode);
  try {
    await mkdir(wanted, { mode });
  } catch (error) {
    if (errorCode(error) !== "EEXIST" || !(await isDirectory(wanted))) throw error;
  }
  await syncDirectory(dirname(wanted));
}

/** @throws for a file of that name */
async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
}

/**
 * Removes temporary files that a killed process left before renaming them. Call it only while
 * nobody writes to the directory.
 */
export async function sweepTemporaryFiles(directory: string): Promise<number> {
  const left = (await readdir(directory)).filter((name) => TEMPORARY.test(name));
  for (const name of left) await rm(join(directory, name), { force: true });
  return left.length;
}
