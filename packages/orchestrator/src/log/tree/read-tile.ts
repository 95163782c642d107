import { encodeEntryBundle, hashesInTile, TILE_WIDTH, type Tile } from "@attestore/proof";
import { packHashes } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import { readFullTile, readTileHashes } from "./tile-rows.ts";

const SIZE: PreparedQuery = { name: "log_size", text: "select tree_size from logs where org_id = $1" };

const ENTRIES: PreparedQuery = {
  name: "log_entries",
  text: `select leaf from log_leaves where org_id = $1 and log_index >= $2 and log_index < $3 order by log_index`,
};

/**
 * The bytes of a tile or an entry bundle (C2SP tlog-tiles); null if the log is not that large.
 * `endedAt` is the number of entries that were left of a generation that has ended.
 */
export async function readTile(
  session: SqlSession,
  orgId: string,
  tile: Tile,
  endedAt: number | null = null,
): Promise<Uint8Array | null> {
  const [log] = await session.run<{ tree_size: number }>(SIZE, [orgId]);
  const level = tile.level === "entries" ? 0 : tile.level;
  // No log that JavaScript can count has tiles above this level.
  if (
    log === undefined ||
    level > 6 ||
    tile.width > hashesInTile(level, tile.index, endedAt ?? log.tree_size)
  )
    return null;
  const from = tile.index * TILE_WIDTH;
  const to = from + tile.width;
  if (tile.level !== "entries")
    return tile.width === TILE_WIDTH
      ? readFullTile(session, orgId, level, tile.index)
      : packHashes(await readTileHashes(session, orgId, level, from, to));
  const rows = await session.run<{ leaf: Buffer }>(ENTRIES, [orgId, from, to]);
  return encodeEntryBundle(rows.map(({ leaf }) => leaf));
}
