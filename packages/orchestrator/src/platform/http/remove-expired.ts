import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../database/schema.ts";
import { removeEndedWindows } from "./rate-limit-store.ts";
import type { RateLimitTable } from "./rate-limits.ts";

const BATCH = 5000;
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
 * @returns how many rows were removed
 */
export async function removeExpired(db: Database, { rateLimits, apiLogDays }: Lifetimes): Promise<number> {
  const longest_s = Math.max(...Object.values(rateLimits).map(({ window_s }) => window_s));
  let removed = await removeEndedWindows(db, longest_s);
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
  // Without locking them first, because this role may not: two replicas at once wait for each other
  // here. The ids contain the time, so the oldest rows are one range of the key.
  const oldestKept = firstIdAt("apiLog", Date.now() - apiLogDays * DAY_MS);
  removed += await inBatches(() =>
    sql`
      delete from api_logs where id in (
        select id from api_logs where id < ${oldestKept} order by id limit ${BATCH}
      )`.execute(db),
  );
  removed += await inBatches(() =>
    sql`
      delete from idempotency_keys where scope_sha256 in (
        select scope_sha256 from idempotency_keys where expires_at < now() limit ${BATCH} for update skip locked
      )`.execute(db),
  );
  return removed;
}

/** Some at a time, so that a long backlog makes no transaction large. */
async function inBatches(remove: () => Promise<{ numAffectedRows?: bigint }>): Promise<number> {
  for (let removed = 0; ;) {
    const batch = Number((await remove()).numAffectedRows ?? 0n);
    removed += batch;
    if (batch < BATCH) return removed;
  }
}
