import type { Target } from "../engines/target.ts";
import { type CiphertextSource, holdToDigest, readCiphertext } from "../crypto/ciphertext.ts";
import { unseal } from "../crypto/unseal.ts";
import { stopIfAborted } from "../errors/run-error.ts";
import type { OnProgress } from "./progress.ts";

export interface RestoreIntoRequest {
  readonly ciphertext: CiphertextSource;
  /** The backup's recorded digest; absent for a file that somebody gave. */
  readonly sha256?: string;
  readonly identities: readonly string[];
  readonly target: Pick<Target, "load">;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

/**
 * Reads a backup twice: first to its end, so that nothing of one that is damaged or cut short
 * reaches a server, and then into the target.
 * @throws DamagedCiphertext before anything is loaded; UserError target_unusable; RunError
 */
export async function restoreIntoTarget(request: RestoreIntoRequest): Promise<{ sizeBytes: number }> {
  const { identities, signal, sha256, target, onProgress } = request;
  const read = (): AsyncIterable<Buffer> => {
    const ciphertext = readCiphertext(request.ciphertext);
    return sha256 === undefined ? ciphertext : holdToDigest(ciphertext, sha256);
  };
  stopIfAborted(signal);
  let totalBytes = 0;
  for await (const piece of unseal(read(), identities)) {
    stopIfAborted(signal);
    onProgress?.({ phase: "decrypt", bytes: (totalBytes += piece.length) });
  }
  let sizeBytes = 0;
  async function* content(): AsyncGenerator<Buffer, void, undefined> {
    for await (const piece of unseal(read(), identities)) {
      stopIfAborted(signal);
      yield piece;
      onProgress?.({ phase: "restore", bytes: (sizeBytes += piece.length), totalBytes });
    }
  }
  await target.load(content());
  stopIfAborted(signal);
  return { sizeBytes };
}
