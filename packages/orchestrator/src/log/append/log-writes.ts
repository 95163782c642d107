import type { Hash } from "@attestore/proof";
import { pack, packHashes, plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

/** A leaf with its index. */
export interface PlacedLeaf {
  orgId: string;
  logIndex: number;
  leafHash: Hash;
  leaf: Uint8Array;
}

/** A full tile. */
export interface TileRow {
  orgId: string;
  level: number;
  index: number;
  rootHash: Hash;
  /** 256 of them. */
  hashes: Buffer;
}

/** A log after it grew. */
export interface LogState {
  orgId: string;
  size: number;
  rootHash: Hash;
  rightEdge: Buffer;
}

// Returns something because Citus would COPY the rows otherwise, which row-level security forbids.
const INSERT_LEAVES: PreparedQuery = {
  name: "log_insert_leaves",
  text: `insert into log_leaves (org_id, log_index, leaf_hash, leaf)
    select org_id, log_index, substring($3::bytea from n::int * 32 - 31 for 32), substring($4::bytea from start for length)
    from unnest($1::text[], $2::bigint[], $5::int[], $6::int[])
      with ordinality as leaves (org_id, log_index, start, length, n)
    returning 1`,
};

export function insertLeaves(session: SqlSession, leaves: readonly PlacedLeaf[]): Promise<unknown> {
  const packed = pack(leaves.map(({ leaf }) => leaf));
  return session.run(INSERT_LEAVES, [
    plainArray(leaves.map(({ orgId }) => orgId)),
    plainArray(leaves.map(({ logIndex }) => logIndex)),
    packHashes(leaves.map(({ leafHash }) => leafHash)),
    packed.bytes,
    packed.starts,
    packed.lengths,
  ]);
}

// Returns something, as INSERT_LEAVES does.
const INSERT_TILES: PreparedQuery = {
  name: "log_insert_tiles",
  text: `insert into log_tiles (org_id, level, tile_index, root_hash, hashes)
    select org_id, level, tile_index, substring($4::bytea from n::int * 32 - 31 for 32),
      substring($5::bytea from (n::int - 1) * 8192 + 1 for 8192)
    from unnest($1::text[], $2::smallint[], $3::bigint[]) with ordinality as tiles (org_id, level, tile_index, n)
    returning 1`,
};

export function insertTiles(session: SqlSession, rows: readonly TileRow[]): Promise<unknown> {
  return session.run(INSERT_TILES, [
    plainArray(rows.map(({ orgId }) => orgId)),
    plainArray(rows.map(({ level }) => level)),
    plainArray(rows.map(({ index }) => index)),
    packHashes(rows.map(({ rootHash }) => rootHash)),
    Buffer.concat(rows.map(({ hashes }) => hashes)),
  ]);
}

const UPDATE_LOGS: PreparedQuery = {
  name: "log_update",
  text: `with grown as (
      select org_id, tree_size, substring($3::bytea from n::int * 32 - 31 for 32) as root_hash,
        substring($4::bytea from start for length) as right_edge
      from unnest($1::text[], $2::bigint[], $5::int[], $6::int[])
        with ordinality as grown (org_id, tree_size, start, length, n)
    ), heads as (
      insert into log_heads (org_id, tree_size, root_hash, recorded_at)
      select org_id, tree_size, root_hash, $7::timestamptz from grown
    )
    update logs set tree_size = grown.tree_size, root_hash = grown.root_hash, right_edge = grown.right_edge,
      newest_at = $7
    from grown where logs.org_id = grown.org_id`,
};

/** Sets the new sizes and records them as heads. */
export function updateLogs(session: SqlSession, logs: readonly LogState[], now: Date): Promise<unknown> {
  const edges = pack(logs.map(({ rightEdge }) => rightEdge));
  return session.run(UPDATE_LOGS, [
    plainArray(logs.map(({ orgId }) => orgId)),
    plainArray(logs.map(({ size }) => size)),
    packHashes(logs.map(({ rootHash }) => rootHash)),
    edges.bytes,
    edges.starts,
    edges.lengths,
    now,
  ]);
}
