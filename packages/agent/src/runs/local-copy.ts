import { join } from "node:path";
import { type CiphertextSource, readCiphertext } from "../crypto/ciphertext.ts";
import { writeFilePieces } from "../crypto/file-pieces.ts";
import { makeScratchDirectory } from "../sandboxes/process/scratch-directory.ts";

export interface LocalCopy {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * The ciphertext as a local file, which can be read twice: once for its digest, and only then for what is in it.
 * @throws RunError `ciphertext_unavailable`; whatever the file system throws.
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
    await writeFilePieces(path, readCiphertext(ciphertext), signal, onBytes);
  } catch (error) {
    await scratch.remove();
    throw error;
  }
  return { path, remove: () => scratch.remove() };
}
