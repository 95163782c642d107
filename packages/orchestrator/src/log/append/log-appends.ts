import {
  type CompactRange,
  type Hash,
  TILE_HEIGHT,
  TILE_WIDTH,
  compactRangeCoordinates,
  leafHash as hashOfLeaf,
  proveInclusion,
} from "@attestore/proof";
import { LogCorruption } from "../log-corruption.ts";
import type { LockedLog } from "./locked-log.ts";
import { type PlacedLeaf, type TileRow, insertLeaves, insertTiles, updateLogs } from "./log-writes.ts";
import { packHashes } from "../../platform/database/packed.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { readTileHashes } from "../tree/tile-rows.ts";

export interface GrownLog extends LockedLog {
  growth: TreeBuilder;
}

/**
 * A transaction's appends to the logs it has locked. Everything is computed before anything is
 * written. `write` then sends leaves, full tiles, new sizes and heads, which commit together or not
 * at all.
 */
export class LogAppends {
  readonly #logs: Map<string, GrownLog>;
  readonly #leaves: PlacedLeaf[] = [];

  constructor(locked: ReadonlyMap<string, LockedLog>) {
    this.#logs = new Map(
      [...locked].map(([id, log]) => [id, { ...log, growth: new TreeBuilder(log.range) }]),
    );
  }

  append(orgId: string, leaf: Uint8Array): PlacedLeaf {
    const leafHash = hashOfLeaf(leaf);
    const placed = { orgId, leaf, leafHash, logIndex: this.log(orgId).growth.append(leafHash) };
    this.#leaves.push(placed);
    return placed;
  }

  log(orgId: string): GrownLog {
    const log = this.#logs.get(orgId);
    if (log === undefined) throw new LogCorruption("log_missing", `the log of ${orgId} was not locked`);
    return log;
  }

  /** The logs that grew. */
  changed(): GrownLog[] {
    return [...this.#logs.values()].filter(({ growth }) => growth.size > growth.sizeBefore);
  }

  /**
   * Reads the earlier leaves and tiles that newly full tiles need. Does nothing unless a tile
   * becomes full, at each 256th leaf.
   */
  async completeTiles(session: SqlSession): Promise<TileRow[]> {
    const rows: TileRow[] = [];
    for (const log of this.changed())
      for (const tile of log.growth.completedTiles) rows.push(await tileRow(session, log, tile));
    return rows;
  }

  /** Sends the statements without waiting in between. */
  write(session: SqlSession, tiles: readonly TileRow[], now: Date): Promise<unknown>[] {
    const changed = this.changed();
    if (changed.length === 0) return [];
    return [
      insertLeaves(session, this.#leaves),
      ...(tiles.length === 0 ? [] : [insertTiles(session, tiles)]),
      updateLogs(
        session,
        changed.map(({ orgId, growth }) => ({
          orgId,
          size: growth.size,
          rootHash: growth.root(),
          rightEdge: packHashes(growth.rightEdge),
        })),
        now,
      ),
    ];
  }
}

async function tileRow(session: SqlSession, log: GrownLog, tile: CompletedTile): Promise<TileRow> {
  const { growth, orgId } = log;
  const first = tile.index * TILE_WIDTH;
  const end = first + TILE_WIDTH;
  const existing = Math.floor(growth.sizeBefore / TILE_WIDTH ** tile.level);
  const hashes =
    existing > first ? await readTileHashes(session, orgId, tile.level, first, Math.min(existing, end)) : [];
  for (let index = first + hashes.length; index < end; index++)
    hashes.push(growth.node(tile.level * TILE_HEIGHT, index));
  return { orgId, level: tile.level, index: tile.index, rootHash: tile.rootHash, hashes: packHashes(hashes) };
}

/** A full tile that an append completed. */
export interface CompletedTile {
  level: number;
  index: number;
  /** Root of the perfect subtree that the tile spans. */
  rootHash: Hash;
}

/**
 * A tree that grows from its right edge. It remembers that edge and every node that the appends
 * complete. The inclusion proofs of the appended leaves need nothing else, so nothing has to be
 * read.
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

  /** Appends a leaf. Returns its index. */
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

  /** The inclusion proof of an appended leaf in the current tree. */
  inclusionProof(index: number): Hash[] {
    return proveInclusion(index, this.size, (level, node) => this.node(level, node));
  }

  /**
   * A node of the old right edge, or one completed since. Throws LogCorruption for any other node.
   */
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
