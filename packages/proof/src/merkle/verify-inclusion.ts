import { plural } from "../text/plural.ts";
import { equalBytes, HASH_SIZE, type Hash } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { nodeHash } from "./hashing.ts";

export interface InclusionProof {
  leafIndex: bigint;
  treeSize: bigint;
  leafHash: Hash;
  rootHash: Hash;
  hashes: readonly Hash[];
}

const fail = (why: string): never => {
  throw new ProofError("inclusion_invalid", why);
};

/**
 * Verifies an inclusion proof (RFC 9162 section 2.1.3.2). Returns if the leaf is in the tree with
 * that root; otherwise throws `inclusion_invalid`.
 */
export function verifyInclusion({ leafIndex, treeSize, leafHash, rootHash, hashes }: InclusionProof): void {
  if (leafIndex < 0n || leafIndex >= treeSize)
    fail(`leaf ${leafIndex} is not in a tree of ${plural(treeSize, "leaf", "leaves")}`);
  if ([leafHash, rootHash, ...hashes].some((hash) => hash.length !== HASH_SIZE))
    fail("a hash is not 32 bytes");
  let position = leafIndex;
  let last = treeSize - 1n;
  let running = leafHash;
  for (const hash of hashes) {
    if (last === 0n) fail("the proof has too many hashes");
    if ((position & 1n) === 1n || position === last) {
      running = nodeHash(hash, running);
      // A right edge without a sibling moves up a level until it has a left neighbour.
      while ((position & 1n) === 0n && position !== 0n) {
        position >>= 1n;
        last >>= 1n;
      }
    } else {
      running = nodeHash(running, hash);
    }
    position >>= 1n;
    last >>= 1n;
  }
  if (last !== 0n) fail("the proof has too few hashes");
  if (!equalBytes(running, rootHash)) fail("the proof leads to another root");
}
