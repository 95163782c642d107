import { nodeHash, TILE_WIDTH, type Hash, type TileNode } from "@attestore/proof";

const HASH = 32;
/** 16 KiB each. */
const MAX_TILES = 512;

/**
 * Cache of all nodes within the full tiles that proofs used lately, the least recent first. Hashing
 * a whole tile takes half a millisecond. A log has few tiles above the lowest level, each on the
 * path of 65,536 leaves or more. A full tile of one generation of a log never changes.
 */
const tiles = new Map<string, readonly Buffer[]>();

/** The nodes of a tile, by their height in it; null if the cache does not have them. */
export function recallNodes(tile: string): readonly Buffer[] | null {
  const nodes = tiles.get(tile);
  if (nodes === undefined) return null;
  tiles.delete(tile);
  tiles.set(tile, nodes);
  return nodes;
}

/** Hashes a full tile and keeps the nodes. */
export function rememberNodes(tile: string, bytes: Buffer): readonly Buffer[] {
  const heights = [bytes];
  for (let width = TILE_WIDTH / 2; width >= 1; width /= 2) {
    const below = heights.at(-1) ?? bytes;
    const nodes = Buffer.alloc(width * HASH);
    for (let n = 0; n < width; n += 1)
      nodes.set(nodeHash(hashAt(below, 2 * n), hashAt(below, 2 * n + 1)), n * HASH);
    heights.push(nodes);
  }
  const [oldest] = tiles.keys();
  if (tiles.size >= MAX_TILES && oldest !== undefined) tiles.delete(oldest);
  tiles.set(tile, heights);
  return heights;
}

/** The node over `count` hashes of the tile from `offset` on; `count` is a power of two. */
export function nodeIn(
  heights: readonly Buffer[],
  { offset, count }: Pick<TileNode, "offset" | "count">,
): Hash {
  const nodes = heights[Math.log2(count)];
  if (nodes === undefined) throw new Error(`a tile has no node over ${count} hashes`);
  return hashAt(nodes, offset / count);
}

function hashAt(bytes: Buffer, n: number): Hash {
  return new Uint8Array(bytes.subarray(n * HASH, (n + 1) * HASH));
}
