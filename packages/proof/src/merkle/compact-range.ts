import { HASH_SIZE, type Hash } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { compactRangeCoordinates } from "./coordinates.ts";
import { foldSubtrees, nodeHash } from "./hashing.ts";

/** Told of a perfect subtree that an append completed: of 2^level leaves, the `index`th of its level. */
export type NodeVisitor = (level: number, index: number, hash: Hash) => void;

/** The right edge of a tree: all that appending and the root need. `hashes` run left to right, largest subtree first. */
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

  /** From hashes in compactRangeCoordinates(size)'s order. Throws `out_of_range` if their number or length is wrong. */
  static from(size: number, hashes: readonly Hash[]): CompactRange {
    const expected = compactRangeCoordinates(size).length;
    if (hashes.length !== expected || hashes.some((hash) => hash.length !== HASH_SIZE))
      throw new ProofError(
        "out_of_range",
        `the right edge of ${size} leaves is ${expected} hashes of 32 bytes`,
      );
    return new CompactRange(size, [...hashes]);
  }

  get size(): number {
    return this.#size;
  }

  get hashes(): readonly Hash[] {
    return this.#hashes;
  }

  /** Adds one leaf's hash. `visit` is told the leaf (level 0) and then each taller subtree that it completed, in order. */
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

  /** The root of the tree (RFC 6962 section 2.1); EMPTY_ROOT when it has no leaf. */
  root(): Hash {
    return foldSubtrees(this.#hashes);
  }

  clone(): CompactRange {
    return new CompactRange(this.#size, [...this.#hashes]);
  }
}
