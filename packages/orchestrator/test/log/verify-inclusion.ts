import { leafHash, openCheckpoint, verifyInclusion, type OpenedCheckpoint } from "@attestore/proof";
import { logVerifier, type LogIdentity } from "../../src/log/log-keys.ts";
import type { Placement } from "../../src/log/inclusion.ts";

/**
 * As a client would: the leaf's hash, the checkpoint's signature, the proof. Throws if anything
 * does not hold.
 */
export async function verifyPlacement(
  identity: LogIdentity,
  placement: Placement,
): Promise<OpenedCheckpoint> {
  const checkpoint = await openCheckpoint(placement.checkpoint, logVerifier(identity, placement.origin));
  verifyInclusion({
    leafIndex: BigInt(placement.logIndex),
    treeSize: checkpoint.size,
    leafHash: leafHash(placement.leaf),
    rootHash: checkpoint.rootHash,
    hashes: placement.hashes,
  });
  return checkpoint;
}
