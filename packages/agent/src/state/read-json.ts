import { readFile } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { fileTrouble } from "@attestore/host/file-trouble";
import { UserError } from "../errors/user-error.ts";
import { DamagedFile } from "./damaged-file.ts";

/**
 * A file of the root that the agent wrote itself; null if it is missing.
 * @throws DamagedFile if it is not JSON
 */
export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new DamagedFile(path, error);
  }
}

/** A copy of what the service says with its next answer: null also if it is damaged. */
export async function readCopy(path: string): Promise<unknown> {
  try {
    return await readJson(path);
  } catch (error) {
    if (error instanceof DamagedFile) return null;
    throw error;
  }
}

/**
 * A text file's content, or null if it is missing. @throws UserError root_unusable if it exists and
 * can't be read
 */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return null;
    if (code === null) throw error;
    // Nothing is wrong with the file if the process or the disk is what fails.
    const isFileFine = code === "EMFILE" || code === "ENFILE" || code === "EIO";
    throw new UserError(
      "root_unusable",
      (isFileFine ? fileTrouble(error) : null) ??
        `${path} can't be read (${code}): it must be a file that attestore's user may read`,
      { cause: error },
    );
  }
}
