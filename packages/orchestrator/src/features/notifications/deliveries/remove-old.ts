import { removeBefore, type RemovalLimits } from "../../../platform/database/remove-in-batches.ts";
import type { Database } from "../../../platform/database/schema.ts";

const KEPT_MS = 90 * 86_400_000;
/** Each has deliveries with attempts. */
const BATCH = 1000;

/**
 * Removes messages with their deliveries 90 days after they were made, and incidents 90 days after
 * they ended. None of them is sent again, because the cursors are past them.
 */
export async function removeOld(
  db: Database,
  { now, ...limits }: { now: Date } & RemovalLimits,
): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await removeBefore(db, { table: "notifications", key: "created_at", before }, { batch: BATCH, ...limits });
  await removeBefore(
    db,
    { table: "notification_incidents", key: "ended_at", before },
    { batch: BATCH, ...limits },
  );
}
