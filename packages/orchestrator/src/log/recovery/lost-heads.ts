import { toHex } from "@attestore/proof";
import type { Pool } from "pg";
import type { KeptHead } from "../fsck/check-kept-heads.ts";
import { findMissingHeads, leftOfEnded, orgOfOrigin } from "../heads/missing-heads.ts";

/** A head that was signed, and that the database does not have. */
export interface LostHead {
  /** The name of the log's generation that signed it. */
  origin: string;
  size: number;
  /** Hex. */
  root: string;
  /** Where it is known, such as "signed-heads". */
  where: string[];
}

/** A log that lacks signed heads. */
export interface CutLog {
  orgId: string;
  /** Null for an organisation that the database does not know. */
  left: { slug: string; origin: string; size: number; root: string; newestAt: Date } | null;
  /** The smallest first. */
  lost: LostHead[];
}

/**
 * The logs that lack a head which is kept outside the database, or which an agent or a replica
 * sent, and the remaining size of each. Heads of generations that have ended are lost for good, and
 * not included.
 */
export async function findCutLogs(
  pool: Pool,
  kept: ReadonlyMap<string, readonly KeptHead[]>,
): Promise<CutLog[]> {
  const absent = await findMissingHeads(pool, [...[...kept.values()].flat(), ...(await readMarks(pool))]);
  const ended = await leftOfEnded(pool, absent);
  const missing = absent.filter((head) => !ended.has(head));
  const byOrg = Map.groupBy(missing as KeptHead[], ({ origin }) => orgOfOrigin(origin));
  type Row = { id: string; slug: string; origin: string; size: number; root: Buffer; at: Date };
  const { rows } = await pool.query<Row>(
    `select orgs.id, slug, logs.origin, logs.tree_size as size, logs.root_hash as root,
      (select recorded_at from log_heads where log_heads.org_id = orgs.id order by tree_size desc limit 1) as at
     from orgs join logs on logs.org_id = orgs.id where orgs.id = any($1::text[])`,
    [[...byOrg.keys()]],
  );
  const left = new Map(rows.map((row) => [row.id, row]));
  return [...byOrg]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([orgId, heads]) => {
      const row = left.get(orgId);
      return {
        orgId,
        left:
          row === undefined
            ? null
            : { slug: row.slug, origin: row.origin, size: row.size, root: toHex(row.root), newestAt: row.at },
        lost: merged(heads),
      };
    });
}

async function readMarks(pool: Pool): Promise<KeptHead[]> {
  const { rows } = await pool.query<{ origin: string; size: number; root: Buffer }>(
    `select coalesce(missing_head_origin, origin) as origin, missing_head_size as size, missing_head_root as root
     from logs where missing_head_size is not null`,
  );
  const where = "the mark that stopped this log";
  return rows.map(({ origin, size, root }) => ({ origin, size, rootHash: root, where }));
}

/** Each head once, even if several have it. */
function merged(heads: readonly KeptHead[]): LostHead[] {
  const lost = new Map<string, LostHead>();
  for (const { origin, size, rootHash, where } of heads) {
    const root = toHex(rootHash);
    const name = `${origin} ${size} ${root}`;
    const known = lost.get(name);
    if (known === undefined) lost.set(name, { origin, size, root, where: [where] });
    else if (!known.where.includes(where)) known.where.push(where);
  }
  return [...lost.values()].toSorted((one, other) => one.size - other.size);
}
