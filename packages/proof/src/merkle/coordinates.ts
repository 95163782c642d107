import { plural } from "../text/plural.ts";
import { ProofError } from "../proof-error.ts";

/** The perfect subtree of 2^level leaves that begins at leaf index * 2^level. */
export interface NodeCoordinate {
  level: number;
  index: number;
}

/** Leaves from `start` to `end`, which is exclusive. */
interface LeafRange {
  start: number;
  end: number;
}

/**
 * The perfect subtrees, left to right, that make up a tree of `size` leaves: its right edge. Sizes
 * and indexes here are safe integers (below 2^53); anything else throws `out_of_range`.
 */
export function compactRangeCoordinates(size: number): NodeCoordinate[] {
  requireSize(size);
  return perfectSubtrees({ start: 0, end: size });
}

/**
 * The nodes needed to prove leaf `index` in a tree of `size`, in the order in which proveInclusion
 * reads them.
 */
export function inclusionCoordinates(index: number, size: number): NodeCoordinate[] {
  return inclusionRanges(index, size).flatMap(perfectSubtrees);
}

/**
 * The nodes needed to prove that the tree of `to` extends the tree of `from`, in proveConsistency's
 * order.
 */
export function consistencyCoordinates(from: number, to: number): NodeCoordinate[] {
  return consistencyRanges(from, to).flatMap(perfectSubtrees);
}

/**
 * RFC 6962 section 2.1.1, PATH(m, D[n]): one range for each hash of the proof, the leaf's sibling
 * first.
 */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  requireSize(size);
  if (!Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new ProofError(
      "out_of_range",
      `leaf ${index} is not in a tree of ${plural(size, "leaf", "leaves")}`,
    );
  const path: LeafRange[] = [];
  let [start, end] = [0, size];
  let split = powerBelow(size);
  while (end - start > 1) {
    while (split >= end - start) split /= 2;
    const middle = start + split;
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/** RFC 6962 section 2.1.2, PROOF(m, D[n]): one range for each hash of the proof. */
export function consistencyRanges(from: number, to: number): LeafRange[] {
  requireSize(from);
  requireSize(to);
  if (from === 0 || from > to)
    throw new ProofError(
      "out_of_range",
      `no consistency proof leads from ${from} to ${plural(to, "leaf", "leaves")}`,
    );
  const path: LeafRange[] = [];
  let [start, end] = [0, to];
  let split = powerBelow(to);
  while (end > from) {
    while (split >= end - start) split /= 2;
    const middle = start + split;
    if (from <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  // The verifier knows the old root itself, but not a subtree at the old tree's right edge.
  if (start > 0) path.push({ start, end });
  return path.reverse();
}

/** Splits a range that begins on a subtree boundary into perfect subtrees, the largest first. */
export function perfectSubtrees({ start, end }: LeafRange): NodeCoordinate[] {
  const nodes: NodeCoordinate[] = [];
  let level = 0;
  let leaves = 1;
  for (; leaves * 2 <= end - start; leaves *= 2) level++;
  for (let leaf = start; leaf < end; leaves /= 2, level--) {
    if (leaf + leaves > end) continue;
    nodes.push({ level, index: leaf / leaves });
    leaf += leaves;
  }
  return nodes;
}

/** The largest power of two below `leaves`, or 1 if there is none. RFC 6962 splits a tree there. */
function powerBelow(leaves: number): number {
  let power = 1;
  while (power * 2 < leaves) power *= 2;
  return power;
}

function requireSize(size: number): void {
  if (!Number.isSafeInteger(size) || size < 0)
    throw new ProofError("out_of_range", `${size} is not a tree size`);
}
