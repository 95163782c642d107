import { leafHash, openCheckpoint, verifyInclusion, type OpenedCheckpoint } from "@attestore/proof";
import { logVerifier, type LogIdentity } from "../../src/log/checkpoints/log-keys.ts";
import type { Inclusion } from "../../src/log/heads/inclusion.ts";

/**
 * As a client would: the leaf's hash, the checkpoint's signature, the proof. Throws if anything
 * does not hold.
 */
export async function verifyEntryInclusion(
  identity: LogIdentity,
  inclusion: Inclusion,
): Promise<OpenedCheckpoint> {
  const checkpoint = await openCheckpoint(inclusion.checkpoint, logVerifier(identity, inclusion.origin));
  verifyInclusion({
    leafIndex: BigInt(inclusion.logIndex),
    treeSize: checkpoint.size,
    leafHash: leafHash(inclusion.leaf),
    rootHash: checkpoint.rootHash,
    hashes: inclusion.hashes,
  });
  return checkpoint;
}
