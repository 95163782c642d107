import { equalBytes, TILE_WIDTH, type Hash, plural } from "@attestore/proof";
import { packHashes } from "../../platform/database/packed.ts";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check } from "./check.ts";

const TILE: PreparedQuery = {
  name: "fsck_tile",
  text: "select hashes, root_hash from log_tiles where org_id = $1 and level = $2 and tile_index = $3",
};

const TILES_BEYOND: PreparedQuery = {
  name: "fsck_tiles_beyond",
  text: `select level, tile_index from log_tiles
    where org_id = $1 and tile_index >= floor($2::numeric / power(256::numeric, level + 1)) order by level, tile_index`,
};

/** Compares the stored tiles with tiles computed from the leaves. Holds one tile per level. */
export class TileComparison {
  readonly #check: Check;
  readonly #open: Hash[][] = [];

  constructor(check: Check) {
    this.#check = check;
  }

  /** Adds the next hash to this level's tiles. */
  add(level: number, hash: Hash): void {
    (this.#open[level] ??= []).push(hash);
  }

  /** The tile is full; `root` is that of the subtree it spans. */
  async compare(level: number, index: number, root: Hash): Promise<void> {
    const { session, orgId, counts, report } = this.#check;
    const hashes = this.#open[level] ?? [];
    this.#open[level] = [];
    counts.tiles++;
    const where = `tile ${index} of level ${level}`;
    if (hashes.length !== TILE_WIDTH) throw new Error(`${where} has ${hashes.length} hashes`);
    const [row] = await session.run<{ hashes: Buffer; root_hash: Buffer }>(TILE, [orgId, level, index]);
    if (row === undefined) return report("tile", `${where} is missing`);
    if (!equalBytes(row.hashes, packHashes(hashes))) report("tile", `${where} differs from the leaves`);
    if (!equalBytes(row.root_hash, root))
      report("tile", `${where} has a root that does not match its hashes`);
  }

  async finish(size: number): Promise<void> {
    const { session, orgId, report } = this.#check;
    const rows = await session.run<{ level: number; tile_index: number }>(TILES_BEYOND, [orgId, size]);
    for (const { level, tile_index } of rows)
      report(
        "tile",
        `tile ${tile_index} of level ${level} is stored, but the log's size, ${plural(size, "leaf", "leaves")}, does not fill it`,
      );
  }
}
