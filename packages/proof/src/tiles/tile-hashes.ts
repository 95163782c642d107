import { HASH_SIZE, type Hash } from "../bytes.ts";
import { foldSubtrees, nodeHash } from "../merkle/hashing.ts";
import { ProofError } from "../proof-error.ts";
import { TILE_WIDTH } from "./tile-path.ts";

/** How many levels of the tree one tile spans. */
export const TILE_HEIGHT = 8;

/** Where a node's hash comes from: `count` neighbouring hashes (a power of two) in one tile. */
export interface TileNode {
  tileLevel: number;
  tileIndex: number;
  offset: number;
  count: number;
}

/**
 * Returns the tile, and the hashes in it, for the perfect subtree number `index` of 2^level leaves.
 */
export function tileOfNode(level: number, index: number): TileNode {
  const count = 2 ** (level % TILE_HEIGHT);
  const first = index * count;
  return {
    tileLevel: Math.floor(level / TILE_HEIGHT),
    tileIndex: Math.floor(first / TILE_WIDTH),
    offset: first % TILE_WIDTH,
    count,
  };
}

/** How many hashes the tile has in a tree of `treeSize` leaves: 0 (no such tile) to 256 (full). */
export function hashesInTile(tileLevel: number, tileIndex: number, treeSize: number): number {
  const onLevel = Math.floor(treeSize / TILE_WIDTH ** tileLevel);
  return Math.min(Math.max(onLevel - tileIndex * TILE_WIDTH, 0), TILE_WIDTH);
}

/**
 * Computes a node's hash from its tile's bytes. Throws `malformed_tile` if the tile is too short.
 */
export function nodeFromTile(tile: Uint8Array, { offset, count }: Pick<TileNode, "offset" | "count">): Hash {
  if (tile.length % HASH_SIZE !== 0 || tile.length < (offset + count) * HASH_SIZE)
    throw new ProofError(
      "malformed_tile",
      `a tile of ${tile.length} bytes does not contain the hashes ${offset} to ${offset + count - 1}`,
    );
  let hashes: Hash[] = Array.from({ length: count }, (_, i) =>
    tile.slice((offset + i) * HASH_SIZE, (offset + i + 1) * HASH_SIZE),
  );
  while (hashes.length > 1) {
    hashes = hashes.flatMap((left, i) => {
      const right = hashes[i + 1];
      return i % 2 === 0 && right ? [nodeHash(left, right)] : [];
    });
  }
  return foldSubtrees(hashes);
}
