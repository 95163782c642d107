import { join } from "node:path";
import { type CiphertextSource, readCiphertext } from "../pipeline/ciphertext.ts";
import { writeFilePieces } from "../pipeline/file-pieces.ts";
import type { ScratchDirectory } from "../sandboxes/process/scratch-directory.ts";

/**
 * The ciphertext as a local file, which can be read twice: once for its digest, and only then for what is in it.
 * @throws CouldNotRun `ciphertext_unavailable`; whatever the file system throws.
 */
export async function localCopy(
  ciphertext: CiphertextSource,
  scratch: ScratchDirectory,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<string> {
  if ("path" in ciphertext) return ciphertext.path;
  const path = join(scratch.path, "ciphertext.age");
  await writeFilePieces(path, readCiphertext(ciphertext), signal, onBytes);
  return path;
}
