import { sha256 } from "#sha256";
import { concatBytes, type Hash } from "../bytes.ts";

const LEAF_PREFIX = Uint8Array.of(0x00);
const NODE_PREFIX = Uint8Array.of(0x01);

/** RFC 6962 section 2.1: SHA-256(0x00 || leaf). */
export function leafHash(leaf: Uint8Array): Hash {
  return sha256(concatBytes(LEAF_PREFIX, leaf));
}

/** RFC 6962 section 2.1: SHA-256(0x01 || left || right). */
export function nodeHash(left: Hash, right: Hash): Hash {
  return sha256(concatBytes(NODE_PREFIX, left, right));
}

/** The root of a tree without leaves: SHA-256 of the empty string. */
export const EMPTY_ROOT: Hash = sha256(new Uint8Array(0));

/**
 * Computes the root over neighbouring perfect subtrees, given left to right, each no taller than
 * the one before. The ragged right edge is folded from its right end. No hashes give EMPTY_ROOT.
 */
export function foldSubtrees(hashes: readonly Hash[]): Hash {
  return hashes.length === 0 ? EMPTY_ROOT : hashes.reduceRight((right, left) => nodeHash(left, right));
}
