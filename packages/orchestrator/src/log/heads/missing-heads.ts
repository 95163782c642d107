import { equalBytes, parseLogName } from "@attestore/proof";
import type { ClientBase, Pool } from "pg";
import type { Head } from "../checkpoints/checkpoint-signer.ts";
import { originOfSize } from "./origin-of-size.ts";

/** How many heads one statement is about. */
export const HEADS_AT_ONCE = 1000;

/** Of the pool or of one connection. */
export type Queries = Pick<Pool, "query"> | Pick<ClientBase, "query">;

/** The log's organisation: the last part of the name of the log's first generation. */
export function orgOfOrigin(origin: string): string {
  const { first } = parseLogName(origin);
  return first.slice(first.lastIndexOf("/") + 1);
}

/**
 * Finds which of these heads the database's logs do not have, or have under the name of another
 * generation. With `anyName` only the organisation in the name counts.
 */
export async function findMissingHeads(
  pool: Queries,
  heads: readonly Head[],
  { anyName = false }: { anyName?: boolean } = {},
): Promise<Head[]> {
  const missing: Head[] = [];
  for (let from = 0; from < heads.length; from += HEADS_AT_ONCE) {
    const page = heads.slice(from, from + HEADS_AT_ONCE);
    const { rows } = await pool.query<{ n: number; root_hash: Buffer; origin: string }>(
      `select n::int, log_heads.root_hash, ${originOfSize("log_heads.tree_size")} as origin
       from unnest($1::text[], $2::bigint[]) with ordinality as head (org_id, tree_size, n)
       join log_heads using (org_id, tree_size) join logs using (org_id)`,
      [page.map(({ origin }) => orgOfOrigin(origin)), page.map(({ size }) => size)],
    );
    const found = new Map(rows.map(({ n, ...head }) => [n, head]));
    page.forEach((head, index) => {
      const has = found.get(index + 1);
      const isNamed = anyName || has?.origin === head.origin;
      if (has === undefined || !isNamed || !equalBytes(has.root_hash, head.rootHash)) missing.push(head);
    });
  }
  return missing;
}

/** Which of these are of a generation that has ended, and how many entries were left of it. */
export async function leftOfEnded(pool: Queries, heads: readonly Head[]): Promise<Map<Head, number>> {
  if (heads.length === 0) return new Map();
  const { rows } = await pool.query<{ ended: string; tree_size: number }>(
    "select ended, tree_size from log_generations where org_id = any($1::text[])",
    [[...new Set(heads.map(({ origin }) => orgOfOrigin(origin)))]],
  );
  const left = new Map(rows.map(({ ended, tree_size }) => [ended, tree_size]));
  return new Map(
    heads.flatMap((head) => {
      const size = left.get(head.origin);
      return size === undefined ? [] : [[head, size]];
    }),
  );
}
