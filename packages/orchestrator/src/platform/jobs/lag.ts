import type { Database } from "../database/schema.ts";
import type { Job } from "./job.ts";

export interface JobLag {
  name: string;
  /**
   * Seconds by which the last good run of any replica is overdue; 0 while it is not. Null before
   * the first run.
   */
  lag_s: number | null;
}

/**
 * How far behind each job is, whichever replica runs it: for metrics. One database row for each
 * job.
 */
export async function readJobLag(
  db: Database,
  jobs: readonly Pick<Job, "name" | "every_s">[],
  now: Date,
): Promise<JobLag[]> {
  const rows = await db.selectFrom("jobs").select(["name", "finished_at"]).execute();
  const finished = new Map(rows.map(({ name, finished_at }) => [name, finished_at]));
  return jobs.map(({ name, every_s }) => {
    const at = finished.get(name) ?? null;
    return {
      name,
      lag_s: at === null ? null : Math.max(0, (now.getTime() - at.getTime()) / 1000 - every_s),
    };
  });
}
