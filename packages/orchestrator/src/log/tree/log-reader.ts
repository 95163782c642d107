import {
  consistencyCoordinates,
  hashesInTile,
  inclusionCoordinates,
  nodeFromTile,
  proveConsistency,
  proveInclusion,
  TILE_WIDTH,
  tileOfNode,
  type Hash,
  type NodeCoordinate,
  type TileNode,
} from "@attestore/proof";
import { LogCorruption } from "../log-corruption.ts";
import { nodeIn, recallNodes, rememberNodes } from "./inner-nodes.ts";
import { packHashes, plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import { nodesOfEdge, readRightEdge } from "./right-edge.ts";
import { readTileHashes } from "./tile-rows.ts";

/** The head in whose tree something is proven; the log must have that many leaves. */
export interface ProvenHead {
  /** Of the generation with a head of that size. */
  origin: string;
  size: number;
  /**
   * With these, nothing of the unfinished tiles is read but for a leaf in them. Only the log's
   * newest head has an edge.
   */
  rootHash?: Uint8Array;
  rightEdge?: Buffer | null;
}

/** The inclusion proof of leaf `index` in the tree of that head. */
export async function readInclusionProof(
  session: SqlSession,
  orgId: string,
  index: number,
  head: ProvenHead,
): Promise<Hash[]> {
  const nodes = await readNodes(session, orgId, inclusionCoordinates(index, head.size), head);
  return proveInclusion(index, head.size, nodes);
}

/** The consistency proof between the log's first `from` leaves and the tree of that head. */
export async function readConsistencyProof(
  session: SqlSession,
  orgId: string,
  from: number,
  head: ProvenHead,
): Promise<Hash[]> {
  const nodes = await readNodes(session, orgId, consistencyCoordinates(from, head.size), head);
  return proveConsistency(from, head.size, nodes);
}

const FIND_LEAF: PreparedQuery = {
  name: "log_find_leaf",
  text: "select log_index from log_leaves where org_id = $1 and leaf_hash = $2 order by log_index limit 1",
};

/** The index of the leaf with this hash, or null. */
export async function findLeaf(session: SqlSession, orgId: string, leafHash: Hash): Promise<number | null> {
  const [row] = await session.run<{ log_index: number }>(FIND_LEAF, [orgId, Buffer.from(leafHash)]);
  return row?.log_index ?? null;
}

const FULL_TILES: PreparedQuery = {
  name: "log_read_tiles",
  // One lookup by key for each: for a log of medium size a join would read all rows.
  text: `select wanted.level, wanted.tile_index, tile.hashes
    from unnest($2::smallint[], $3::bigint[]) as wanted (level, tile_index)
    cross join lateral (select hashes from log_tiles
      where org_id = $1 and level = wanted.level and tile_index = wanted.tile_index limit 1) as tile`,
};

/** Reads only the tiles that hold these nodes: one per level on a path, whatever the log's size. */
async function readNodes(
  session: SqlSession,
  orgId: string,
  coordinates: readonly NodeCoordinate[],
  { origin, size: treeSize, rootHash, rightEdge }: ProvenHead,
): Promise<(level: number, index: number) => Hash> {
  const edge = rootHash && rightEdge ? readRightEdge(treeSize, rootHash, rightEdge) : null;
  const found = edge === null ? new Map<string, Hash>() : nodesOfEdge(edge);
  const wanted = coordinates
    .filter(({ level, index }) => !found.has(`${level}/${index}`))
    .map((node) => ({ ...node, tile: tileOfNode(node.level, node.index) }));
  const byTile = Map.groupBy(wanted, ({ tile }) => `${tile.tileLevel}/${tile.tileIndex}`);
  for (const [name, nodes] of byTile) {
    const inner = recallNodes(`${origin}/${name}`);
    if (inner === null) continue;
    byTile.delete(name);
    for (const { level, index, tile } of nodes) found.set(`${level}/${index}`, nodeIn(inner, tile));
  }
  // A tile that a head before the newest has not filled may be full by now.
  const mayBeFull = ({ tileLevel, tileIndex }: TileNode): boolean =>
    edge === null || hashesInTile(tileLevel, tileIndex, treeSize) === TILE_WIDTH;
  const full = await readFullTiles(
    session,
    orgId,
    [...byTile.values()].flatMap(([first]) => first?.tile ?? []).filter(mayBeFull),
  );
  for (const [name, nodes] of byTile) {
    const fullTile = full.get(name);
    // The lowest level has too many tiles to cache, and each is on the path of only 256 leaves.
    if (fullTile !== undefined && !name.startsWith("0/")) {
      const inner = rememberNodes(`${origin}/${name}`, fullTile);
      for (const { level, index, tile } of nodes) found.set(`${level}/${index}`, nodeIn(inner, tile));
      continue;
    }
    const { bytes, first } =
      fullTile === undefined
        ? await readPartialTile(
            session,
            orgId,
            nodes.map(({ tile }) => tile),
            treeSize,
          )
        : { bytes: fullTile, first: 0 };
    for (const { level, index, tile } of nodes)
      found.set(`${level}/${index}`, nodeFromTile(bytes, { offset: tile.offset - first, count: tile.count }));
  }
  return (level, index) => {
    const hash = found.get(`${level}/${index}`);
    if (hash === undefined)
      throw new LogCorruption("log_incomplete", `node ${index} of level ${level} was not read`);
    return hash;
  };
}

async function readFullTiles(
  session: SqlSession,
  orgId: string,
  tiles: readonly TileNode[],
): Promise<Map<string, Buffer>> {
  if (tiles.length === 0) return new Map();
  const rows = await session.run<{ level: number; tile_index: number; hashes: Buffer }>(FULL_TILES, [
    orgId,
    plainArray(tiles.map(({ tileLevel }) => tileLevel)),
    plainArray(tiles.map(({ tileIndex }) => tileIndex)),
  ]);
  return new Map(rows.map(({ level, tile_index, hashes }) => [`${level}/${tile_index}`, hashes]));
}

/**
 * The part of an unfinished tile that holds these nodes; `first` is the offset of its first hash.
 */
async function readPartialTile(
  session: SqlSession,
  orgId: string,
  nodes: readonly TileNode[],
  treeSize: number,
): Promise<{ bytes: Buffer; first: number }> {
  const [{ tileLevel, tileIndex } = { tileLevel: 0, tileIndex: 0 }] = nodes;
  const first = Math.min(...nodes.map(({ offset }) => offset));
  const end = Math.max(...nodes.map(({ offset, count }) => offset + count));
  if (end > hashesInTile(tileLevel, tileIndex, treeSize))
    throw new LogCorruption(
      "log_incomplete",
      `tile ${tileIndex} of level ${tileLevel} of ${orgId} is too short`,
    );
  const start = tileIndex * 256;
  const hashes = await readTileHashes(session, orgId, tileLevel, start + first, start + end);
  return { bytes: packHashes(hashes), first };
}
