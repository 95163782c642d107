import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/** Nobody waits any longer for what a source that was removed should have done. */
export async function withdrawRuns(tx: DatabaseTransaction, sourceId: string, at: Date): Promise<void> {
  await tx
    .updateTable("scheduled_runs")
    .set({ status: "withdrawn", decided_at: at })
    .where("source_id", "=", sourceId)
    .where("status", "=", "waiting")
    .execute();
}
