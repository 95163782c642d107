import { errorMessage } from "../../platform/errors/errno.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import type { RetentionDeps } from "./settings.ts";
import { forgetUpload, listRecorded } from "./store.ts";

/** How long an object may lie there without being registered as a backup. */
const ORPHAN_AFTER_MS = 24 * 3_600_000;
const PAGE = 500;

/**
 * Removes objects that no record is about: uploads that were never registered, and what came after its backup had expired. The upload is
 * forgotten first, in a statement that fails where it is being registered, and then the object goes: a crash in between leaves
 * an object without any record, which the next run finds.
 * @returns how many were removed
 */
export async function sweepObjects(
  deps: RetentionDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<number> {
  const before = new Date(now.getTime() - ORPHAN_AFTER_MS);
  let removed = 0;
  let page: string[] = [];
  const sweep = async (): Promise<void> => {
    removed += await sweepPage(deps, page, before);
    page = [];
  };
  for await (const { key, modifiedAt } of deps.objects.list()) {
    if (signal.aborted) return removed;
    if (modifiedAt >= before) continue;
    page.push(key);
    if (page.length === PAGE) await sweep();
  }
  await sweep();
  if (removed > 0) deps.logger.info({ removed }, "objects without a record were removed");
  return removed;
}

async function sweepPage(
  { db, objects, logger }: RetentionDeps,
  keys: readonly string[],
  before: Date,
): Promise<number> {
  if (keys.length === 0) return 0;
  const recorded = await listRecorded(db, keys);
  let removed = 0;
  for (const key of keys) {
    if (recorded.has(key)) continue;
    try {
      if (!(await forgetUpload(db, key, before))) continue;
      if ((await objects.remove(key)) === "removed") removed += 1;
    } catch (error) {
      logger.warn({ key, reason: errorMessage(error) }, "an object without a record could not be removed");
    }
  }
  return removed;
}
