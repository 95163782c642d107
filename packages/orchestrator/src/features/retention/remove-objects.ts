import { errorMessage } from "@attestore/host/errno";
import type { JobContext } from "../../platform/jobs/job.ts";
import type { RetentionDeps } from "./deps.ts";
import { listRemovable, postponeRemoval, setObjectRemoved } from "./store.ts";

const PAGE = 100;
const RETRY_MS = 15 * 60_000;
const LOCKED_MS = 24 * 3_600_000;

/**
 * Removes the objects of expired backups. Removing can be repeated, so a crash between the store
 * and the row, or another replica doing the same, costs only one more call. Objects that the
 * store's object lock holds are tried again each day.
 */
export async function removeExpiredObjects(
  { db, objects, logger }: RetentionDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  for (;;) {
    const page = await listRemovable(db, now, PAGE);
    for (const backup of page) {
      const { id, object_key } = backup;
      if (signal.aborted) return;
      try {
        if ((await objects.remove(object_key)) === "removed") await setObjectRemoved(db, backup, now);
        else await postponeRemoval(db, backup, new Date(now.getTime() + LOCKED_MS));
      } catch (error) {
        logger.warn(
          { backup_id: id, reason: errorMessage(error) },
          "the object of an expired backup could not be removed; trying again",
        );
        await postponeRemoval(db, backup, new Date(now.getTime() + RETRY_MS));
      }
    }
    if (page.length < PAGE) return;
  }
}
