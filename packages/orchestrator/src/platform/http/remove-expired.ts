import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import {
  BATCH,
  type Removal,
  removeBefore,
  type RemovedBatch,
  removeInBatches,
  type RemovalLimits,
} from "../database/remove-in-batches.ts";
import type { Database } from "../database/schema.ts";
import type { RateLimitTable } from "./route/rate-limits.ts";

const DAY_MS = 86_400_000;

/** How long temporary rows are kept. */
export interface Lifetimes {
  rateLimits: RateLimitTable;
  /** Days that the rows of API calls live. */
  apiLogDays: number;
}

/**
 * Removes expired rows of API calls, remembered answers and one-time codes, rate limit windows that
 * ended, sessions that have been over for a month, interactive attaches that nobody decided on for
 * as long, and requests to hosts' configurations after a week; for the service's housekeeping. Safe
 * at any time and on several replicas at once: expired rows no longer count. During that
 * month the holder of a session's token is told that the session is over.
 */
export async function removeExpired(
  db: Database,
  { rateLimits, apiLogDays }: Lifetimes,
  limits: RemovalLimits,
): Promise<Removal> {
  const longest_s = Math.max(...Object.values(rateLimits).map(({ window_s }) => window_s));
  let removed = 0;
  for (const gone of [
    await sql`delete from one_time_codes where expires_at < now() - interval '1 day'`.execute(db),
    await sql`delete from passkey_challenges where expires_at < now()`.execute(db),
    await sql`delete from sessions where expires_at < now() - interval '30 days'`.execute(db),
    // Anybody may begin an attach.
    await sql`delete from bootstraps where id < ${firstIdAt("bootstrap", Date.now() - 30 * DAY_MS)} and status = 'pending'`.execute(
      db,
    ),
    await sql`delete from config_requests where id < ${firstIdAt("configRequest", Date.now() - 7 * DAY_MS)}`.execute(
      db,
    ),
  ])
    removed += Number(gone.numAffectedRows ?? 0n);
  // The ids contain the time.
  const calls = {
    table: "api_logs",
    key: "id",
    before: firstIdAt("apiLog", Date.now() - apiLogDays * DAY_MS),
  } as const;
  const ended = {
    table: "rate_limits",
    key: "window_start",
    before: sql<Date>`(now() - make_interval(secs => ${longest_s}::int))`,
  } as const;
  const runs = [
    await removeBefore(db, ended, limits),
    await removeBefore(db, calls, limits),
    await removeAnswers(db, limits),
  ];
  for (const run of runs) removed += run.removed;
  return { removed, isUnfinished: runs.some(({ isUnfinished }) => isUnfinished) };
}

/**
 * Those that somebody holds are left for the next run, so that no call waits for this. Their keys
 * are hashes, in whose order a backlog would be all over the table.
 */
function removeAnswers(db: Database, limits: RemovalLimits): Promise<Removal> {
  return removeInBatches(
    db,
    {
      first: "-infinity",
      // At the last time again, for those of the same time that the batch had no room for.
      batchAfter: (time) => sql<RemovedBatch>`
        with batch as materialized (
          select scope_sha256, expires_at from idempotency_keys
          where expires_at >= ${time}::timestamptz and expires_at < now()
          order by expires_at limit ${limits.batch ?? BATCH} for update skip locked),
        gone as (
          delete from idempotency_keys where scope_sha256 = any (array(select scope_sha256 from batch)) returning 1)
        select (select count(*)::int from gone) as removed, max(expires_at)::text as last from batch`,
    },
    limits,
  );
}
