import type { CommandKind } from "@attestore/contract";
import { CLOCK_BEHIND_MS } from "@attestore/proof";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";

/**
 * A backup or test that finished before a run was due does not count for it. The SQL of proof's
 * countsForRun.
 */
export const CLOCK_BEHIND = sql`${CLOCK_BEHIND_MS / 1000} * interval '1 second'`;

/** A time, or one as PostgreSQL writes it, with its microseconds. */
type Time = Date | string;

/** What a run waits for: a backup, or a restore test's result. */
export interface Awaited {
  source_id: string;
  arrives_from: Time;
  arrives_until: Time;
  /** It finished at this time or later, by its agent's clock. */
  finished_from: Time;
}

const RESULTS = {
  backup: sql`backups as result
    on result.made_at >= awaited.finished_from`,
  restore_test: sql`receipts as result
    on result.kind = 'restore_test' and result.happened_at >= awaited.finished_from`,
};

/**
 * When the first result arrived, by the place in the list of what waits for it. A statement of its
 * own that joins no other table: an engine that spreads receipts over machines by their
 * organisation can give it to them.
 */
export async function findArrived(
  db: Database,
  kind: CommandKind,
  awaited: readonly Awaited[],
  /** Whose runs they are; null if they are of several organisations. */
  orgId: string | null,
): Promise<Map<number, string>> {
  if (awaited.length === 0) return new Map();
  const inOrg = orgId === null ? sql`` : sql`and result.org_id = ${orgId}`;
  const { rows } = await sql<{ n: number; arrived_at: string }>`
    select (awaited.n - 1)::int as n, min(result.created_at)::text as arrived_at
    from unnest(${awaited.map((one) => one.source_id)}::text[], ${awaited.map((one) => one.arrives_from)}::timestamptz[],
        ${awaited.map((one) => one.arrives_until)}::timestamptz[], ${awaited.map((one) => one.finished_from)}::timestamptz[])
      with ordinality as awaited (source_id, arrives_from, arrives_until, finished_from, n)
    join ${RESULTS[kind]} and result.source_id = awaited.source_id ${inOrg}
      and result.created_at >= awaited.arrives_from and result.created_at <= awaited.arrives_until
    group by awaited.n`.execute(db);
  return new Map(rows.map(({ n, arrived_at }) => [n, arrived_at]));
}
