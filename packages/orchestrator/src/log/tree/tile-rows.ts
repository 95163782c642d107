import type { Hash } from "@attestore/proof";
import { LogCorruption } from "../log-corruption.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

const LEAF_HASHES: PreparedQuery = {
  name: "log_leaf_hashes",
  text: `select leaf_hash as hash from log_leaves
    where org_id = $1 and log_index >= $2 and log_index < $3 order by log_index`,
};

const TILE_ROOTS: PreparedQuery = {
  name: "log_tile_roots",
  text: `select root_hash as hash from log_tiles
    where org_id = $1 and level = $4 and tile_index >= $2 and tile_index < $3 order by tile_index`,
};

const TILE: PreparedQuery = {
  name: "log_tile",
  text: "select hashes from log_tiles where org_id = $1 and level = $2 and tile_index = $3",
};

/**
 * A full tile, which is stored whole: a third of the pages of its hashes' own rows. Throws
 * LogCorruption if it is missing.
 */
export async function readFullTile(
  session: SqlSession,
  orgId: string,
  level: number,
  index: number,
): Promise<Buffer> {
  const [row] = await session.run<{ hashes: Buffer }>(TILE, [orgId, level, index]);
  if (row === undefined)
    throw new LogCorruption("log_incomplete", `the log of ${orgId} lacks tile ${index} of level ${level}`);
  return row.hashes;
}

/**
 * The hashes `from` (inclusive) to `to` (exclusive) that tiles of this level contain, counted from
 * the log's start: leaf hashes, or above them the roots of the full tiles one level below. Throws
 * LogCorruption if one is missing.
 */
export async function readTileHashes(
  session: SqlSession,
  orgId: string,
  level: number,
  from: number,
  to: number,
): Promise<Hash[]> {
  const rows =
    level === 0
      ? await session.run<{ hash: Buffer }>(LEAF_HASHES, [orgId, from, to])
      : await session.run<{ hash: Buffer }>(TILE_ROOTS, [orgId, from, to, level - 1]);
  if (rows.length !== to - from)
    throw new LogCorruption(
      "log_incomplete",
      `the log of ${orgId} has ${rows.length} of the hashes ${from} to ${to - 1} of tile level ${level}`,
    );
  return rows.map(({ hash }) => hash);
}
