import { sql } from "kysely";
import { lockLogs } from "../../log/append/locked-log.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/**
 * Until the transaction ends nobody else, on any replica, queues this source's commands, expires
 * its backups or configures it, so what is read afterwards stays true. An advisory lock, because
 * the log's batches update the row itself.
 * Transactions lock in this order: source, log, rows. Batches of the log begin at the log and never
 * lock a source.
 */
export async function lockSource(tx: DatabaseTransaction, sourceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${sourceId}, 0))`.execute(tx);
}

/** Returns false at once if somebody else has it. */
export async function tryLockSource(tx: DatabaseTransaction, sourceId: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${sourceId}, 0)) as locked`.execute(tx);
  return rows[0]?.locked === true;
}

/** Of many at once; returns those that nobody else has. */
export async function tryLockSources(
  tx: DatabaseTransaction,
  sourceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${sourceIds}::text[]) as id
    where pg_try_advisory_xact_lock(hashtextextended(id, 0))`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/**
 * For work that also logs, or changes rows that a batch of the log changes: in the other order the
 * two would wait for each other.
 */
export async function lockSourceAndLog(
  tx: DatabaseTransaction,
  { orgId, sourceId }: { orgId: string; sourceId: string },
): Promise<void> {
  await lockSource(tx, sourceId);
  await lockLogs(transactionSession(tx), new Set([orgId]));
}
