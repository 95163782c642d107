import { constants } from "node:fs";
import { chmod, type FileHandle, open } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";

/**
 * A name on Linux is bytes: in this folder each character of a name or path is one byte (latin1).
 */
export type Name = string;

/** Opens nothing, and needs no permission on the target (open(2)); Node does not list it. */
const O_PATH = 0o10000000;
const NOT_A_LINK = constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Holds a directory by its descriptor. Look-ups in it stay in it, even if somebody moves or
 * replaces the path that led here, and however deep it is. @throws the system's ENOTDIR for a link
 * or a file
 */
export function openDirectory(path: string | Buffer): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | NOT_A_LINK);
}

/** The same for a place that was configured, which may be reached by links. */
export function openToldDirectory(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY);
}

/** A directory to remove: made readable if its owner, which we are, may not read it. */
export async function openOwnDirectory(path: Buffer): Promise<FileHandle> {
  try {
    return await openDirectory(path);
  } catch (error) {
    if (errorCode(error) !== "EACCES") throw error;
  }
  await openUp(path);
  return openDirectory(path);
}

/** `chmod u=rwx` for a directory of ours, and never for a link's target. */
export async function openUp(path: Buffer): Promise<void> {
  const itself = await open(path, O_PATH | NOT_A_LINK);
  try {
    await chmod(`/proc/self/fd/${itself.fd}`, 0o700);
  } finally {
    await itself.close();
  }
}

/**
 * The name in that directory, for calls that take paths: Node has no openat(2). `name` is one part
 * of a path.
 */
export function nameIn({ fd }: FileHandle, name: Name): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}/${name}`, "latin1");
}

/** A path to what is held, wherever it is by now. */
export function heldPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/** Something else where a file should be: a pipe, which would never end, a device, a directory. */
export class NotAFile extends Error {
  readonly code = "not a regular file";
  constructor() {
    super("not a regular file");
    this.name = "NotAFile";
  }
}

/**
 * Opens a path for reading if it is a file: others may have put a pipe or a device there, and
 * merely opening these may wait for ever or do something. The path is looked up once, so what was
 * checked is what is read.
 * @throws NotAFile, whose `code` goes into messages like a system's; system errors
 */
export async function openRegularFile(path: string | Buffer): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!(await file.stat()).isFile()) throw new NotAFile();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
