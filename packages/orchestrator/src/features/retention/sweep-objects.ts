import { errorMessage } from "@attestore/host/errno";
import type { JobContext } from "../../platform/jobs/job.ts";
import { isOwnKey } from "../../platform/objects/object-key.ts";
import { forgetUpload } from "../backups/upload-store.ts";
import { isSmallShare } from "../installation/small-share.ts";
import { endQuarantine, quarantine, type Quarantined, readQuarantine } from "./quarantine.ts";
import type { RetentionDeps } from "./deps.ts";
import { listNeededObjects } from "./store.ts";
import { recordSweep, type SweepReport } from "./sweep-report.ts";

/** How long an object may exist without being registered as a backup. */
const ORPHAN_AFTER_MS = 24 * 3_600_000;
const DAY_MS = 86_400_000;
const PAGE = 500;

type SweepDeps = Pick<RetentionDeps, "db" | "objects" | "logger" | "quarantineDays">;

interface Plan {
  objects: number;
  /**
   * Keys that go into quarantine, keys that have been there long enough, and keys that leave it
   * because they are needed or gone.
   */
  enter: string[];
  remove: string[];
  end: string[];
}

/**
 * Puts objects that no record mentions into quarantine, and removes those that have been there long
 * enough. Such objects are uploads that were never registered, objects that came after their backup
 * had expired, and objects that an older database does not know.
 * The upload is forgotten first, in a statement that fails while the upload is being registered,
 * and only then is the object removed. A crash in between leaves an object without any record,
 * which the next run finds.
 * If a sweep would take more than a small share of all objects, it takes none (unless `confirmed`),
 * because a database that does not know its objects is more likely the wrong one.
 */
export async function sweepObjects(
  deps: SweepDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
  { confirmed = false }: { confirmed?: boolean } = {},
): Promise<SweepReport> {
  const before = new Date(now.getTime() - ORPHAN_AFTER_MS);
  const known = await readQuarantine(deps.objects.notes);
  const plan = await planSweep(deps, { known, before, now });
  const taken = plan.enter.length + plan.remove.length;
  const report: SweepReport = {
    at: now,
    objects: plan.objects,
    quarantined: known.size - plan.end.length,
    taken,
    stopped: !confirmed && !isSmallShare(taken, plan.objects),
    removed: 0,
  };
  for (const key of plan.end) await endQuarantine(deps.objects.notes, key);
  if (report.stopped) {
    deps.logger.error(
      { objects: plan.objects, unknown: taken },
      "the sweep was stopped: too many objects are unknown to the database. Check that it is the right database; attestore-server objects sweep shows more",
    );
  } else {
    for (const key of plan.enter) {
      if (signal.aborted) break;
      await quarantine(deps.objects.notes, key, now);
      report.quarantined += 1;
    }
    report.removed = await removeAll(deps, plan.remove, { before, signal });
    report.quarantined -= report.removed;
    if (plan.enter.length > 0)
      deps.logger.warn(
        { objects: plan.enter.length, keys: plan.enter.slice(0, 20), days: deps.quarantineDays },
        "objects that the database does not know are in quarantine; attestore-server objects quarantine lists them",
      );
    const { objects, quarantined, removed } = report;
    deps.logger.info({ objects, quarantined, removed }, "swept the object store");
  }
  await recordSweep(deps.db, report);
  return report;
}

/** A sweep's plan. Reads only. */
export async function planSweep(
  deps: SweepDeps,
  { known, before, now }: { known: ReadonlyMap<string, Quarantined>; before: Date; now: Date },
): Promise<Plan> {
  const dueBefore = now.getTime() - deps.quarantineDays * DAY_MS;
  const plan: Plan = { objects: 0, enter: [], remove: [], end: [] };
  const gone = new Set(known.keys());
  let page: { key: string; modifiedAt: Date }[] = [];
  const look = async (): Promise<void> => {
    const needed = await listNeededObjects(
      deps.db,
      page.map(({ key }) => key),
      before,
    );
    for (const { key, modifiedAt } of page) {
      const mark = known.get(key);
      gone.delete(key);
      if (needed.has(key)) {
        if (mark !== undefined) plan.end.push(key);
      } else if (mark === undefined) {
        if (modifiedAt < before) plan.enter.push(key);
      } else if (!mark.isKept && mark.since.getTime() <= dueBefore) plan.remove.push(key);
    }
    page = [];
  };
  for await (const { key, modifiedAt } of deps.objects.list()) {
    if (!isOwnKey(key)) continue;
    plan.objects += 1;
    page.push({ key, modifiedAt });
    if (page.length === PAGE) await look();
  }
  await look();
  plan.end.push(...gone);
  return plan;
}

async function removeAll(
  { db, objects, logger }: SweepDeps,
  keys: readonly string[],
  { before, signal }: { before: Date; signal: AbortSignal },
): Promise<number> {
  let removed = 0;
  for (const key of keys) {
    if (signal.aborted) break;
    try {
      if (!(await forgetUpload(db, key, before))) continue;
      if ((await objects.remove(key)) === "retained") continue;
      await endQuarantine(objects.notes, key);
      removed += 1;
    } catch (error) {
      logger.warn({ key, reason: errorMessage(error) }, "an object without a record could not be removed");
    }
  }
  return removed;
}
