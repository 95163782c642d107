import {
  compactRangeCoordinates,
  proveInclusion,
  TILE_HEIGHT,
  type CompactRange,
  type Hash,
} from "@attestore/proof";
import { LogCorruption } from "./log-corruption.ts";

/** A full tile that an append completed. */
export interface CompletedTile {
  level: number;
  index: number;
  /** Of the perfect subtree that the tile spans. */
  rootHash: Hash;
}

/**
 * A tree that grows from its right edge. It remembers that edge and every node that the appends complete, which is all that the
 * inclusion proofs of the appended leaves are made of: nothing has to be read.
 */
export class TreeBuilder {
  readonly sizeBefore: number;
  readonly completedTiles: CompletedTile[] = [];
  readonly #range: CompactRange;
  readonly #nodes: Map<number, Hash>[] = [];
  #root: Hash | undefined;

  constructor(range: CompactRange) {
    this.sizeBefore = range.size;
    this.#range = range.clone();
    compactRangeCoordinates(range.size).forEach(({ level, index }, position) => {
      const hash = range.hashes[position];
      if (hash !== undefined) this.#keep(level, index, hash);
    });
  }

  get size(): number {
    return this.#range.size;
  }

  get rightEdge(): readonly Hash[] {
    return this.#range.hashes;
  }

  root(): Hash {
    return (this.#root ??= this.#range.root());
  }

  /** Adds a leaf and gives its index. */
  append(leafHash: Hash): number {
    const index = this.#range.size;
    this.#root = undefined;
    this.#range.append(leafHash, (level, node, hash) => {
      this.#keep(level, node, hash);
      if (level > 0 && level % TILE_HEIGHT === 0)
        this.completedTiles.push({ level: level / TILE_HEIGHT - 1, index: node, rootHash: hash });
    });
    return index;
  }

  /** The proof that an appended leaf is in the tree as it is now. */
  inclusionProof(index: number): Hash[] {
    return proveInclusion(index, this.size, (level, node) => this.node(level, node));
  }

  /** A node of the old right edge or one completed since. Throws LogCorruption for any other. */
  node(level: number, index: number): Hash {
    const hash = this.#nodes[level]?.get(index);
    if (hash === undefined)
      throw new LogCorruption(
        "log_incomplete",
        `node ${index} of level ${level} is not at the tree's right edge`,
      );
    return hash;
  }

  #keep(level: number, index: number, hash: Hash): void {
    (this.#nodes[level] ??= new Map()).set(index, hash);
  }
}
