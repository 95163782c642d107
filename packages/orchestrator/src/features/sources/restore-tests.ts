import type { RestoreTestRecord } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { restoreTestIn } from "../receipts/stored-statement.ts";

/** Newest first, one more than `limit`. */
export async function readRestoreTests(
  db: Database,
  sourceId: string,
  ids: { from: string; before: string },
  limit: number,
): Promise<{ id: string; test: RestoreTestRecord }[]> {
  const rows = await db
    .selectFrom("receipts")
    .select(["id", "created_at", "agent_id", "backup_id", "envelope"])
    .where("source_id", "=", sourceId)
    .where("kind", "=", "restore_test")
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before)
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return rows.map(({ id, created_at, agent_id, backup_id, envelope }) => {
    const { started_at, finished_at, result, reason, runtime, phases, checks } = restoreTestIn(envelope);
    const test: RestoreTestRecord = {
      receipt_id: id,
      created_at: created_at.toISOString(),
      agent_id,
      backup_id,
      started_at,
      finished_at,
      result,
      ...(reason === undefined ? {} : { reason }),
      runtime,
      ...(phases === undefined ? {} : { phases }),
      checks,
    };
    return { id, test };
  });
}
