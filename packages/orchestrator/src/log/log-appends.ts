import { leafHash as hashOfLeaf, TILE_HEIGHT, TILE_WIDTH } from "@attestore/proof";
import { LogCorruption } from "./log-corruption.ts";
import type { LockedLog } from "./locked-log.ts";
import { insertLeaves, insertTiles, updateLogs, type PlacedLeaf, type TileRow } from "./log-writes.ts";
import { packHashes } from "../platform/database/packed.ts";
import type { SqlSession } from "../platform/database/sql-session.ts";
import { readTileHashes } from "./tile-rows.ts";
import { TreeBuilder, type CompletedTile } from "./tree-builder.ts";

export interface GrownLog extends LockedLog {
  growth: TreeBuilder;
}

/**
 * What a transaction appends to the logs that it locked. All computing is done before anything is written; `write` then sends
 * leaves, full tiles, the rows' new sizes and the heads, which commit together or not at all.
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

  /** Those that are larger than they were. */
  changed(): GrownLog[] {
    return [...this.#logs.values()].filter(({ growth }) => growth.size > growth.sizeBefore);
  }

  /** Reads what full tiles need of earlier leaves and tiles. Nothing, unless a tile becomes full: each 256th leaf. */
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
