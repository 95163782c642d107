import { type CiphertextSource, holdToDigest, readCiphertext } from "../crypto/ciphertext.ts";
import { unseal } from "../crypto/unseal.ts";
import { stopIfAborted } from "../errors/run-error.ts";
import type { OnProgress } from "./progress.ts";

export interface RestoreToStreamRequest {
  readonly ciphertext: CiphertextSource;
  /**
   * The backup's recorded digest. With it, a damaged backup is found before anything is written.
   */
  readonly sha256?: string;
  /** `AGE-SECRET-KEY-1…` */
  readonly identities: readonly string[];
  /** Takes each piece whole, or throws. A piece is valid until the promise resolves. */
  readonly write: (piece: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

/**
 * Decrypts and decompresses a backup into a stream. Each piece is authentic, but the dump is
 * complete only if this returns: after an error, the written part must not be used.
 * @throws DamagedCiphertext if the backup is damaged; RunError; whatever `write` throws.
 */
export async function restoreToStream(request: RestoreToStreamRequest): Promise<{ sizeBytes: number }> {
  const { identities, signal, sha256, write, onProgress } = request;
  const read = (): AsyncIterable<Buffer> => {
    const ciphertext = readCiphertext(request.ciphertext);
    return sha256 === undefined ? ciphertext : holdToDigest(ciphertext, sha256);
  };
  stopIfAborted(signal);
  if (sha256 !== undefined) {
    let bytes = 0;
    for await (const piece of read()) {
      stopIfAborted(signal);
      onProgress?.({ phase: "decrypt", bytes: (bytes += piece.length) });
    }
  }
  let sizeBytes = 0;
  for await (const piece of unseal(read(), identities)) {
    stopIfAborted(signal);
    await write(piece);
    onProgress?.({ phase: "restore", bytes: (sizeBytes += piece.length) });
  }
  stopIfAborted(signal);
  return { sizeBytes };
}
