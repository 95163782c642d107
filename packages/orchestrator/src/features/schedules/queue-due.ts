import type { CommandKind } from "@attestore/contract";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { asDatabaseUnavailable } from "../../platform/database/unavailable.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { type DueSource, listDue } from "./due-sources.ts";
import { ScheduleTimes } from "./due-times.ts";
import { type DueRun, queueBatch } from "./queue-batch.ts";
import type { SchedulesDeps } from "./settings.ts";

/** What one transaction holds is short, so nobody who needs the same rows waits for long. */
const BATCH_SOURCES = 200;
/** After a pause of the service each source has many times. */
const BATCH_TIMES = 2000;

/** The rest of the time until its deadline is left for the run itself. */
const JITTER_OF_GRACE = 1 / 4;

type QueueDeps = Pick<SchedulesDeps, "db" | "scheduleGrace_s" | "scheduleJitter_s">;

/**
 * Queues due runs, once across all replicas: some sources of an organisation in each transaction,
 * which also sets their next times. A kill -9 between two of them leaves whole batches, and the
 * rest is still due. Times that passed while the service was down are recorded, and one command is
 * queued for all of them. If a source cannot be queued, for example because this version does not
 * know its time zone, the others are queued all the same: the first such failure is thrown at the
 * end.
 */
export async function queueDue(
  deps: QueueDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  const failures: unknown[] = [];
  const jitter_s = Math.min(deps.scheduleJitter_s, deps.scheduleGrace_s * JITTER_OF_GRACE);
  for (const kind of ["backup", "restore_test"] as const) {
    const times = new ScheduleTimes(kind, now);
    for await (const page of listDue(deps.db, { kind, now, jitter_s })) {
      for (const runs of batches(page, times, failures)) {
        if (signal.aborted) break;
        await queueAll(deps, { kind, now, runs, failures });
      }
      if (signal.aborted) break;
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Of one organisation each. What cannot be computed is left out, and told in `failures`. */
function* batches(
  page: readonly DueSource[],
  schedules: ScheduleTimes,
  failures: unknown[],
): Generator<DueRun[], void, undefined> {
  let batch: DueRun[] = [];
  let count = 0;
  for (const source of page) {
    if (batch.length > 0 && (isFull(batch, count) || batch[0]?.source.org_id !== source.org_id)) {
      yield batch;
      batch = [];
      count = 0;
    }
    try {
      const run = { source, ...schedules.of(source) };
      batch.push(run);
      count += run.times.length;
    } catch (error) {
      failures.push(error);
    }
  }
  if (batch.length > 0) yield batch;
}

function isFull(batch: readonly DueRun[], times: number): boolean {
  return batch.length >= BATCH_SOURCES || times >= BATCH_TIMES;
}

/** Where one source stops a batch, the others are queued without it. */
async function queueAll(
  deps: QueueDeps,
  work: { kind: CommandKind; now: Date; runs: readonly DueRun[]; failures: unknown[] },
): Promise<void> {
  const { runs, failures, ...of } = work;
  const orgId = runs[0]?.source.org_id;
  if (orgId === undefined) return;
  try {
    await runInOrg(deps.db, orgId, (tx) => queueBatch(tx, { ...of, runs, grace_s: deps.scheduleGrace_s }));
  } catch (error) {
    if (asDatabaseUnavailable(error) !== null) throw error;
    if (runs.length === 1) {
      failures.push(error);
      return;
    }
    const half = runs.length >> 1;
    await queueAll(deps, { ...work, runs: runs.slice(0, half) });
    await queueAll(deps, { ...work, runs: runs.slice(half) });
  }
}
