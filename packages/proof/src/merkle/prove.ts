import type { Hash } from "../bytes.ts";
import { consistencyRanges, inclusionRanges, perfectSubtrees } from "./coordinates.ts";
import { foldSubtrees } from "./hashing.ts";

/**
 * Returns the hash of a perfect subtree. It does no I/O, so fetch the coordinates first. Its errors
 * are passed on.
 */
export type NodeReader = (level: number, index: number) => Hash;

/**
 * The inclusion proof of leaf `index` in the tree of `size` leaves (RFC 6962 section 2.1.1). Throws
 * `out_of_range`.
 */
export function proveInclusion(index: number, size: number, read: NodeReader): Hash[] {
  return inclusionRanges(index, size).map((range) => rangeHash(range, read));
}

/**
 * The proof that the tree of `to` leaves extends the tree of `from` leaves (RFC 6962 section
 * 2.1.2). Empty for equal sizes. `from` = 0 proves nothing and throws `out_of_range`.
 */
export function proveConsistency(from: number, to: number, read: NodeReader): Hash[] {
  return consistencyRanges(from, to).map((range) => rangeHash(range, read));
}

function rangeHash(range: { start: number; end: number }, read: NodeReader): Hash {
  return foldSubtrees(perfectSubtrees(range).map(({ level, index }) => read(level, index)));
}
