import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { Database } from "../database/schema.ts";
import type { Logger } from "../logging/logger.ts";
import { claimRun, recordFinished } from "./claim.ts";
import type { Job } from "./job.ts";

export interface JobsOptions {
  db: Database;
  jobs: readonly Job[];
  clock: Clock;
  /** No job begins while `clock` and the database's are further apart; without it, any may. */
  clocksApart_s?: number;
  logger: Logger;
  /** Ends the jobs. A running one finishes its current step. */
  signal: AbortSignal;
}

/**
 * How many times in each interval a replica checks whether it is time: a replica that died is
 * replaced within a fraction of one interval.
 */
const LOOKS = 4;

/** Runs all of them until `signal`; resolves when the last run has ended. Never rejects. */
export async function runJobs(options: JobsOptions): Promise<void> {
  await Promise.all(options.jobs.map((job) => runJob(options, job)));
}

async function runJob(options: JobsOptions, job: Job): Promise<void> {
  const { signal, logger } = options;
  const pause_ms = Math.max(250, (job.every_s * 1000) / LOOKS);
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const ran = await runOnce(options, job);
      if (ran && isFailing) logger.info({ job: job.name }, "a job works again");
      if (ran) isFailing = false;
    } catch (error) {
      // Logged once: without the database it would come every few seconds.
      if (!isFailing) logger.error({ err: error, job: job.name }, "a job failed; trying again");
      isFailing = true;
    }
    await delay(pause_ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Runs once if it is time, and returns whether it did. Throws the run's errors. */
export async function runOnce(
  { db, clock, clocksApart_s, signal }: Pick<JobsOptions, "db" | "clock" | "clocksApart_s" | "signal">,
  job: Job,
): Promise<boolean> {
  const now = clock();
  const claimed = await claimRun(db, job, now, clocksApart_s);
  if (claimed === null) return false;
  await job.run({ now, signal, ...claimed });
  await recordFinished(db, job.name, clock());
  return true;
}
