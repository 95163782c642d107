import { join } from "node:path";
import { type CiphertextSource, readCiphertext } from "../crypto/ciphertext.ts";
import { writeFilePieces } from "../crypto/file-pieces.ts";
import { makeScratchDirectory } from "../sandboxes/process/scratch-directory.ts";

export interface LocalCopy {
  readonly path: string;
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
  if ("path" in ciphertext) return { path: ciphertext.path, remove: () => Promise.resolve() };
  const scratch = await makeScratchDirectory(scratchDir, null);
  const path = join(scratch.path, "ciphertext.age");
  try {
    await writeFilePieces(path, readCiphertext(ciphertext), signal, { onBytes, isTemporary: true });
  } catch (error) {
    await scratch.remove();
    throw error;
  }
  return { path, remove: () => scratch.remove() };
}
