import { type CiphertextSource, holdToDigest, readCiphertext } from "../crypto/ciphertext.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";
import { RunError, stopIfAborted } from "../errors/run-error.ts";

/**
 * Looks at the whole ciphertext after it could not be decrypted. A changed byte in its header looks
 * as if it was made for another identity, which nobody should look for then. And only the digest
 * tells whether a second reading found the same damage.
 * @throws DamagedCiphertext `digest_mismatch` if these are not the backup's bytes
 */
export async function throwIfDamaged(
  error: unknown,
  ciphertext: CiphertextSource,
  sha256: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const isOfBytes =
    error instanceof DamagedCiphertext || (error instanceof RunError && error.code === "identity_missing");
  if (sha256 === undefined || !isOfBytes) return;
  for await (const _ of holdToDigest(readCiphertext(ciphertext), sha256)) stopIfAborted(signal);
}
