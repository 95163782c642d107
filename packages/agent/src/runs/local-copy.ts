import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type CiphertextSource, readCiphertext } from "../crypto/ciphertext.ts";
import { writeFilePieces } from "../crypto/file-pieces.ts";
import { makeScratchDirectory } from "../sandboxes/process/scratch-directory.ts";

export interface LocalCopy {
  readonly path: string;
  /** Gets the ciphertext once more; nothing for a file that is read where it is. */
  again(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Provides the ciphertext as a local file, so that it can be read twice: first for its digest, then
 * for its contents. @throws RunError `ciphertext_unavailable`, and errors of the file system
 */
export async function localCopy(
  ciphertext: CiphertextSource,
  scratchDir: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<LocalCopy> {
  if ("path" in ciphertext) {
    const nothing = (): Promise<void> => Promise.resolve();
    return { path: ciphertext.path, again: nothing, remove: nothing };
  }
  const scratch = await makeScratchDirectory(scratchDir, null);
  const path = join(scratch.path, "ciphertext.age");
  const get = async (): Promise<void> => {
    await rm(path, { force: true });
    await writeFilePieces(path, readCiphertext(ciphertext), signal, { onBytes, isTemporary: true });
  };
  try {
    await get();
  } catch (error) {
    await scratch.remove();
    throw error;
  }
  return { path, again: get, remove: () => scratch.remove() };
}
