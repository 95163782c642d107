import { sql } from "kysely";
import type { Database } from "../../../platform/database/schema.ts";

const KEPT_MS = 90 * 86_400_000;
const BATCH = 1000;

/**
 * Removes messages with their deliveries 90 days after they were made, and incidents 90 days after
 * they ended. None of them is sent again, because the cursors are past them.
 */
export async function removeOld(db: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  for (const table of ["notifications", "notification_incidents"] as const) {
    const column = table === "notifications" ? "created_at" : "ended_at";
    for (;;) {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where id in (
          select id from ${sql.table(table)} where ${sql.ref(column)} < ${before} limit ${BATCH})`.execute(
        db,
      );
      if (Number(numAffectedRows ?? 0n) < BATCH) break;
    }
  }
}
