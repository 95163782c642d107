import { CompactRange, equalBytes, leafHash, TILE_HEIGHT, type Hash, plural } from "@attestore/proof";
import { packHashes } from "../../platform/database/packed.ts";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check, LeafRow } from "./check.ts";
import { checkEntries } from "./check-entries.ts";
import { checkGenerations } from "./check-generations.ts";
import { HeadComparison } from "./check-heads.ts";
import { type KeptHead, KeptHeadComparison } from "./check-kept-heads.ts";
import { TileComparison } from "./check-tiles.ts";

/** Leaves read at once: at most 6.5 MB. */
const PAGE = 100;

const LEAVES: PreparedQuery = {
  name: "fsck_leaves",
  text: `select log_index, leaf_hash, leaf from log_leaves where org_id = $1 and log_index > $2
    order by log_index limit $3`,
};

/**
 * Rebuilds one tree and compares tiles, heads, entries and the log's row with it, and heads that
 * are kept outside the database.
 */
export async function checkLog(check: Check, keptHeads: readonly KeptHead[]): Promise<void> {
  const { session, orgId, counts, report } = check;
  const range = CompactRange.empty();
  const tiles = new TileComparison(check);
  const heads = new HeadComparison(check);
  const { origin, ended } = await checkGenerations(check);
  // Entries that an ended generation lost are lost; the remaining ones are compared.
  const kept = new KeptHeadComparison(
    check,
    keptHeads.filter((head) => head.size <= (ended.get(head.origin) ?? Infinity)),
  );
  await heads.compare(range);
  kept.compare(range);
  for (let after = -1; ;) {
    const page = await session.run<LeafRow>(LEAVES, [orgId, after, PAGE]);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.log_index;
    for (const row of page) {
      if (row.log_index !== range.size) {
        report("leaf", `leaf ${range.size} is missing: the next one is ${row.log_index}`);
        // A tree cannot be built over a gap: everything after it would differ.
        return;
      }
      await appendLeaf(check, row, range, tiles);
      await heads.compare(range);
      kept.compare(range);
    }
    counts.leaves += page.length;
    await checkEntries(check, page);
  }
  await tiles.finish(range.size);
  await heads.finish(range.size);
  kept.finish(range.size);
  await checkRow(check, range, origin);
}

async function appendLeaf(
  { report }: Check,
  row: LeafRow,
  range: CompactRange,
  tiles: TileComparison,
): Promise<void> {
  const hash = leafHash(row.leaf);
  if (!equalBytes(hash, row.leaf_hash)) report("leaf", `leaf ${row.log_index} does not match its leaf_hash`);
  const completed: { level: number; index: number; hash: Hash }[] = [];
  range.append(hash, (level, index, node) => {
    if (level % TILE_HEIGHT === 0) completed.push({ level: level / TILE_HEIGHT, index, hash: node });
  });
  for (const { level, index, hash: node } of completed) {
    if (level > 0) await tiles.compare(level - 1, index, node);
    tiles.add(level, node);
  }
}

const ROW: PreparedQuery = {
  name: "fsck_log_row",
  text: "select origin, tree_size, root_hash, right_edge from logs where org_id = $1",
};

async function checkRow(
  { session, orgId, report }: Check,
  range: CompactRange,
  origin: string,
): Promise<void> {
  type Row = { origin: string; tree_size: number; root_hash: Buffer; right_edge: Buffer };
  const [row] = await session.run<Row>(ROW, [orgId]);
  if (row === undefined) return report("log_missing", "the organisation has no log");
  if (row.origin !== origin) report("log_row", `the log's origin is ${row.origin}`);
  if (row.tree_size !== range.size)
    report(
      "log_row",
      `the log's row says ${plural(row.tree_size, "leaf", "leaves")}, but there are ${range.size}`,
    );
  if (!equalBytes(row.root_hash, range.root()))
    report("log_row", "the root in the log's row does not match the leaves");
  if (!equalBytes(row.right_edge, packHashes(range.hashes)))
    report("log_row", "the right edge in the log's row does not match the leaves");
}
