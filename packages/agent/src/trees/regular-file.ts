import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** What stands where a file should: a pipe, which would never end, a device, a directory. */
export class NotAFile extends Error {
  readonly code = "not a regular file";
  constructor() {
    super("not a regular file");
    this.name = "NotAFile";
  }
}

/**
 * Opens a file to read it, if it is one: others may have put a pipe or a device there, whose mere opening may wait for ever or
 * do something. The path is looked up once, so what was looked at is what is read.
 * @throws NotAFile, whose `code` goes into messages as a system's does; what the system throws
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
