import {
  equalBytes,
  hashFromHex,
  plural,
  ProofError,
  verifyConsistency,
  type Checkpoint,
} from "@attestore/proof";
import type { Attachment } from "../service/attachment.ts";
import { isPermanentRefusal, ServiceError } from "../transport/service-error.ts";

/** Null once the service has shown that the large tree begins with the small one. */
export async function findInconsistency(
  { service }: Attachment,
  small: Checkpoint,
  large: Checkpoint,
  signal: AbortSignal,
): Promise<{ refused: boolean; detail: string } | null> {
  const sizes = `from ${small.size} to ${plural(large.size, "leaf", "leaves")}`;
  if (small.size === large.size)
    return equalBytes(small.rootHash, large.rootHash)
      ? null
      : { refused: false, detail: `two roots for ${plural(small.size, "leaf", "leaves")}` };
  // Every tree begins with the empty one. Asking anyway shows that the service still has the large
  // one.
  const from = small.size === 0n ? null : Number(small.size);
  try {
    const leaf = from === null ? Number(large.size) - 1 : from - 1;
    const { consistency } = await service.logProof({ leaf, treeSize: Number(large.size), from }, { signal });
    if (from === null) return null;
    if (consistency === null)
      return { refused: true, detail: `the service returned no consistency proof ${sizes}` };
    verifyConsistency({
      from: small.size,
      to: large.size,
      fromRoot: small.rootHash,
      toRoot: large.rootHash,
      hashes: consistency.hashes.map(hashFromHex),
    });
    return null;
  } catch (error) {
    if (error instanceof ProofError)
      return { refused: false, detail: `the consistency proof ${sizes} is not valid: ${error.message}` };
    // A service that cannot prove a head that it signed is no network failure; a network failure
    // proves nothing either way.
    if (error instanceof ServiceError && isPermanentRefusal(error))
      return { refused: true, detail: `the service returned no proof ${sizes}: ${error.message}` };
    throw error;
  }
}
