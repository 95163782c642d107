import { setTimeout as delay } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Database, Schema } from "./schema.ts";

/** Rows of a batch. */
export const BATCH = 5000;
const LONGEST_RUN_MS = 600_000;

export interface RemovalLimits {
  /** Ends the run after its current batch. */
  signal: AbortSignal;
  /** Rows of a batch; a range of the key that ends with several equal values may be larger. */
  batch?: number;
  /** No batch begins after this. What is left is for the next run. */
  longestRun_ms?: number;
}

export interface Removal {
  removed: number;
  /** Whether the run ended before all of them were removed. */
  isUnfinished: boolean;
}

/** The result of one batch: one row. */
export interface RemovedBatch {
  removed: number;
  /** The last value of its key, as text; null when no rows are left. */
  last: string | null;
}

/**
 * Removes a backlog of any size, some rows in each transaction. Each batch begins after the last
 * key of the one before: while anybody's snapshot can still see the removed rows, as during a dump
 * or a long report, a search from the first key reads all of them again, and a backlog would cost
 * its square. Each batch is followed by a rest as long as it took: half of the database is left to
 * others.
 */
export async function removeInBatches(
  db: Database,
  { first, batchAfter }: { first: string; batchAfter: (key: string) => RawBuilder<RemovedBatch> },
  { signal, longestRun_ms = LONGEST_RUN_MS }: RemovalLimits,
): Promise<Removal> {
  const began = performance.now();
  let removed = 0;
  for (let after = first; ;) {
    const batchBegan = performance.now();
    const { rows } = await batchAfter(after).execute(db);
    const [batch] = rows;
    if (batch === undefined) throw new Error("removing a batch returned no row");
    removed += batch.removed;
    if (batch.last === null) return { removed, isUnfinished: false };
    after = batch.last;
    if (signal.aborted || performance.now() - began >= longestRun_ms) return { removed, isUnfinished: true };
    await delay(performance.now() - batchBegan, undefined, { signal }).catch(() => undefined); // Aborted.
    if (signal.aborted) return { removed, isUnfinished: true };
  }
}

/**
 * Removes the rows of a table whose key, which needs an index of its own, is less than `before`.
 * Safe on several replicas at once: they wait for each other. The range is searched twice, because
 * a join with the batch's keys may read the whole table instead.
 */
export async function removeBefore(
  db: Database,
  { table, key, before }: { table: keyof Schema; key: string; before: string | Date | RawBuilder<Date> },
  limits: RemovalLimits,
): Promise<Removal> {
  const [name, column] = [sql.table(table), sql.ref(key)];
  const [first, type] = typeof before === "string" ? ["", sql`text`] : ["-infinity", sql`timestamptz`];
  return removeInBatches(
    db,
    {
      first,
      batchAfter: (after) => sql<RemovedBatch>`
        with batch as materialized (
          select max(key) as last from (
            select ${column} as key from ${name} where ${column} > ${after}::${type} and ${column} < ${before}::${type}
            order by ${column} limit ${limits.batch ?? BATCH}) as rows),
        gone as (
          delete from ${name} where ${column} > ${after}::${type} and ${column} <= (select last from batch) returning 1)
        select (select count(*)::int from gone) as removed, last::text as last from batch`,
    },
    limits,
  );
}
