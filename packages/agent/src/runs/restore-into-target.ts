import type { Target } from "../engines/target.ts";
import { type CiphertextSource, holdToDigest, readCiphertext } from "../crypto/ciphertext.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";
import { unseal } from "../crypto/unseal.ts";
import { RunError, stopIfAborted } from "../errors/run-error.ts";
import { throwIfDamaged } from "./throw-if-damaged.ts";
import type { OnProgress } from "./progress.ts";

export interface RestoreIntoRequest {
  readonly ciphertext: CiphertextSource;
  /** The backup's recorded digest; absent for a file that somebody gave. */
  readonly sha256?: string;
  readonly identities: readonly string[];
  readonly target: Pick<Target, "load" | "leavesPart">;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

/**
 * Reads a backup twice: first to its end, so that nothing of one that is damaged or cut short
 * reaches a server, and then into the target.
 * @throws DamagedCiphertext if nothing was loaded; UserError target_unusable; RunError
 */
export async function restoreIntoTarget(request: RestoreIntoRequest): Promise<{ sizeBytes: number }> {
  const { identities, signal, sha256, target, onProgress } = request;
  const read = (): AsyncIterable<Buffer> => {
    const ciphertext = readCiphertext(request.ciphertext);
    return sha256 === undefined ? ciphertext : holdToDigest(ciphertext, sha256);
  };
  stopIfAborted(signal);
  let totalBytes = 0;
  try {
    for await (const piece of unseal(read(), identities)) {
      stopIfAborted(signal);
      onProgress?.({ phase: "decrypt", bytes: (totalBytes += piece.length) });
    }
  } catch (error) {
    await throwIfDamaged(error, request.ciphertext, sha256, signal);
    throw error;
  }
  let sizeBytes = 0;
  async function* content(): AsyncGenerator<Buffer, void, undefined> {
    for await (const piece of unseal(read(), identities)) {
      stopIfAborted(signal);
      yield piece;
      onProgress?.({ phase: "restore", bytes: (sizeBytes += piece.length), totalBytes });
    }
  }
  try {
    await target.load(content());
  } catch (error) {
    if (!(error instanceof DamagedCiphertext) || target.leavesPart === null) throw error;
    // It was right a moment ago, so this is not the backup's fault.
    throw new RunError(
      "ciphertext_unavailable",
      `the ciphertext was right, and changed on this host while it was restored (${error.message}): look at its disk and memory; ${target.leavesPart}`,
      { cause: error },
    );
  }
  stopIfAborted(signal);
  return { sizeBytes };
}
