import { plural } from "../text/plural.ts";
import { equalBytes, HASH_SIZE, type Hash } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { nodeHash } from "./hashing.ts";

export interface ConsistencyProof {
  from: bigint;
  to: bigint;
  fromRoot: Hash;
  toRoot: Hash;
  hashes: readonly Hash[];
}

const fail = (why: string): never => {
  throw new ProofError("consistency_invalid", why);
};

/**
 * Verifies a consistency proof (RFC 9162 section 2.1.4.2). Returns if the tree of `to` leaves
 * begins with the tree of `from` leaves; otherwise throws `consistency_invalid`. `from` = 0 is
 * refused: every tree extends the empty one, so it would prove nothing.
 */
export function verifyConsistency({ from, to, fromRoot, toRoot, hashes }: ConsistencyProof): void {
  if (from <= 0n || to < from)
    fail(`a tree of ${plural(to, "leaf", "leaves")} cannot be shown to extend one of ${from}`);
  if (from === to) {
    if (hashes.length > 0) fail("equal sizes need no proof hashes");
    if (!equalBytes(fromRoot, toRoot)) fail("two different roots for the same size");
    return;
  }
  if ([fromRoot, toRoot, ...hashes].some((hash) => hash.length !== HASH_SIZE)) fail("a hash is not 32 bytes");
  let position = from - 1n;
  let last = to - 1n;
  while ((position & 1n) === 1n) {
    position >>= 1n;
    last >>= 1n;
  }
  // If the old tree is one perfect subtree (its size is a power of two), the proof leaves out its
  // root, which comes first.
  const [first, ...rest] = position === 0n ? [fromRoot, ...hashes] : hashes;
  if (first === undefined) return fail("the proof is empty");
  let fromRunning = first;
  let toRunning = first;
  for (const hash of rest) {
    if (last === 0n) fail("the proof has too many hashes");
    if ((position & 1n) === 1n || position === last) {
      fromRunning = nodeHash(hash, fromRunning);
      toRunning = nodeHash(hash, toRunning);
      while ((position & 1n) === 0n && position !== 0n) {
        position >>= 1n;
        last >>= 1n;
      }
    } else {
      toRunning = nodeHash(toRunning, hash);
    }
    position >>= 1n;
    last >>= 1n;
  }
  if (last !== 0n) fail("the proof has too few hashes");
  if (!equalBytes(fromRunning, fromRoot)) fail("the proof leads to another old root");
  if (!equalBytes(toRunning, toRoot)) fail("the proof leads to another new root");
}
