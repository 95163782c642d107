import { plural } from "../text/plural.ts";
import { HASH_SIZE, type Hash } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { compactRangeCoordinates } from "./coordinates.ts";
import { foldSubtrees, nodeHash } from "./hashing.ts";

/**
 * Called for each perfect subtree that an append completes: the `index`th subtree of 2^level
 * leaves.
 */
export type NodeVisitor = (level: number, index: number, hash: Hash) => void;

/**
 * The right edge of a tree: everything needed to append and to compute the root. `hashes` run left
 * to right, the largest subtree first.
 */
export class CompactRange {
  #size: number;
  #hashes: Hash[];

  private constructor(size: number, hashes: Hash[]) {
    this.#size = size;
    this.#hashes = hashes;
  }

  static empty(): CompactRange {
    return new CompactRange(0, []);
  }

  /**
   * Restores a range from hashes in the order of compactRangeCoordinates(size). Throws
   * `out_of_range` if their number or length is wrong.
   */
  static from(size: number, hashes: readonly Hash[]): CompactRange {
    const expected = compactRangeCoordinates(size).length;
    if (hashes.length !== expected || hashes.some((hash) => hash.length !== HASH_SIZE))
      throw new ProofError(
        "out_of_range",
        `the right edge of ${plural(size, "leaf", "leaves")} is ${plural(expected, "hash", "hashes")} of 32 bytes`,
      );
    return new CompactRange(size, [...hashes]);
  }

  get size(): number {
    return this.#size;
  }

  get hashes(): readonly Hash[] {
    return this.#hashes;
  }

  /**
   * Appends one leaf's hash. Calls `visit` with the leaf (level 0), then with each taller subtree
   * that it completed, in order.
   */
  append(leafHash: Hash, visit?: NodeVisitor): void {
    let hash = leafHash;
    let index = this.#size;
    visit?.(0, index, hash);
    for (let level = 1; index % 2 === 1; level++) {
      const left = this.#hashes.pop();
      if (left === undefined) throw new ProofError("out_of_range", "the right edge lacks a hash");
      hash = nodeHash(left, hash);
      index = (index - 1) / 2;
      visit?.(level, index, hash);
    }
    this.#hashes.push(hash);
    this.#size++;
  }

  /** The root of the tree (RFC 6962 section 2.1). EMPTY_ROOT for a tree without leaves. */
  root(): Hash {
    return foldSubtrees(this.#hashes);
  }

  clone(): CompactRange {
    return new CompactRange(this.#size, [...this.#hashes]);
  }
}
