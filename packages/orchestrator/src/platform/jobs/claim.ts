import { sql } from "kysely";
import type { Database } from "../database/schema.ts";
import type { Job } from "./job.ts";

/** A pause of this many runs, plus a minute for a restart, means that no replica was running. */
const PAUSE_RUNS = 3;
const PAUSE_S = 60;

/**
 * Claims the next run of a job if it is time for it: one statement, so only one of several replicas
 * gets it. It holds nothing while the job runs; after a kill -9 the next run comes on time. Null if
 * it is not time yet, or if `now` and the database's clock are further apart than `clocksApart_s`:
 * by a wrong clock the job would remove, announce or report as missed something that is not due.
 */
export async function claimRun(
  db: Database,
  { name, every_s }: Pick<Job, "name" | "every_s">,
  now: Date,
  clocksApart_s = Number.POSITIVE_INFINITY,
): Promise<{ runningSince: Date } | null> {
  const due = new Date(now.getTime() - every_s * 1000);
  const paused = new Date(now.getTime() - (PAUSE_RUNS * every_s + PAUSE_S) * 1000);
  // A clock that was set back must not stop the job until that time comes again.
  const ahead = new Date(now.getTime() + every_s * 1000);
  const { rows } = await sql<{ running_since: Date }>`
    insert into jobs (name, started_at, running_since)
      select ${name}::text, ${now}::timestamptz, ${now}::timestamptz
      where abs(extract(epoch from clock_timestamp() - ${now}::timestamptz)) <= ${clocksApart_s}::float8
    on conflict (name) do update set started_at = excluded.started_at,
      running_since = case when jobs.started_at < ${paused} then excluded.running_since else jobs.running_since end
      where jobs.started_at <= ${due} or jobs.started_at > ${ahead}
    returning running_since`.execute(db);
  const [row] = rows;
  return row === undefined ? null : { runningSince: row.running_since };
}

export async function recordFinished(db: Database, name: string, at: Date): Promise<void> {
  await db.updateTable("jobs").set({ finished_at: at }).where("name", "=", name).execute();
}

const CLOCKS_APART_MS = 60_000;

/**
 * Whether the job's last run that came to its end did so later than now: the clock has gone back
 * since, and what that run computed may be of the future.
 */
export async function endedLater(db: Database, name: string, now: Date): Promise<boolean> {
  const row = await db.selectFrom("jobs").select("finished_at").where("name", "=", name).executeTakeFirst();
  return (row?.finished_at?.getTime() ?? 0) > now.getTime() + CLOCKS_APART_MS;
}
