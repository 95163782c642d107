import {
  compactRangeCoordinates,
  consistencyCoordinates,
  type Hash,
  hashesInTile,
  inclusionCoordinates,
  nodeHash,
  type NodeCoordinate,
  proveConsistency,
  proveInclusion,
  TILE_WIDTH,
  tileOfNode,
} from "@attestore/proof";
import { LogCorruption } from "../../log/log-corruption.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { readTileHashes } from "../../log/tree/tile-rows.ts";

/**
 * Tiles of 8 KiB, or twice that with the hashes above them. A walk through a log needs one for each
 * level, and those of the right edge.
 */
const MAX_TILES = 64;

/**
 * Makes many proofs for one size of a log. A tile is read once while the walk goes from leaf to
 * leaf.
 */
export class TreeReader {
  readonly #orgId: string;
  readonly #size: number;
  readonly #tiles = new Map<string, Hash[][]>();

  constructor(orgId: string, size: number) {
    this.#orgId = orgId;
    this.#size = size;
  }

  async inclusion(session: SqlSession, index: number): Promise<Hash[]> {
    await this.#load(session, inclusionCoordinates(index, this.#size));
    return proveInclusion(index, this.#size, this.#read);
  }

  /** Empty if there is nothing to prove between the two trees. */
  async consistency(session: SqlSession, from: number): Promise<Hash[]> {
    if (from === 0 || from === this.#size) return [];
    await this.#load(session, consistencyCoordinates(from, this.#size));
    return proveConsistency(from, this.#size, this.#read);
  }

  /** The perfect subtrees of the first `size` leaves. */
  async edge(session: SqlSession, size: number): Promise<Hash[]> {
    const coordinates = compactRangeCoordinates(size);
    await this.#load(session, coordinates);
    return coordinates.map(({ level, index }) => this.#read(level, index));
  }

  async #load(session: SqlSession, coordinates: readonly NodeCoordinate[]): Promise<void> {
    const wanted = new Set<string>();
    for (const { level, index } of coordinates) {
      const { tileLevel, tileIndex } = tileOfNode(level, index);
      const name = `${tileLevel}/${tileIndex}`;
      wanted.add(name);
      const known = this.#tiles.get(name) ?? [await this.#readTile(session, tileLevel, tileIndex)];
      // Moves it to the end, so the first is the one that was used longest ago.
      this.#tiles.delete(name);
      this.#tiles.set(name, known);
    }
    for (const name of this.#tiles.keys()) {
      if (this.#tiles.size <= MAX_TILES) break;
      if (!wanted.has(name)) this.#tiles.delete(name);
    }
  }

  #readTile(session: SqlSession, level: number, index: number): Promise<Hash[]> {
    const first = index * TILE_WIDTH;
    const end = first + hashesInTile(level, index, this.#size);
    return readTileHashes(session, this.#orgId, level, first, end);
  }

  readonly #read = (level: number, index: number): Hash => {
    const { tileLevel, tileIndex, offset, count } = tileOfNode(level, index);
    const tile = this.#tiles.get(`${tileLevel}/${tileIndex}`);
    const height = Math.log2(count);
    const hash = tile === undefined ? undefined : levelOf(tile, height)[offset / count];
    if (hash === undefined)
      throw new LogCorruption("log_incomplete", `node ${index} of level ${level} was not read`);
    return hash;
  };
}

/** The perfect subtrees of that height over a tile's hashes, computed on first use. */
function levelOf(tile: Hash[][], height: number): Hash[] {
  const known = tile[height];
  if (known !== undefined) return known;
  const below = levelOf(tile, height - 1);
  const made: Hash[] = [];
  for (let at = 0; at + 1 < below.length; at += 2) {
    const [left, right] = [below[at], below[at + 1]];
    if (left !== undefined && right !== undefined) made.push(nodeHash(left, right));
  }
  tile[height] = made;
  return made;
}
