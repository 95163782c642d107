import type { RestoreTestRecord } from "@attestore/contract";
import {
  type ArchivedEnvelopes,
  ENVELOPE_BYTES,
  ENVELOPE_PLACE,
} from "../../log/archive/archived-envelopes.ts";
import type { Database } from "../../platform/database/schema.ts";
import { idsWithin } from "../../platform/http/route/pagination.ts";
import { restoreTestIn } from "../receipts/stored-statement.ts";

/**
 * Newest first, one more than `limit`, or as many as a page has room for; then `hasMore` is set.
 */
export async function readRestoreTests(
  db: Database,
  envelopes: ArchivedEnvelopes,
  sourceId: string,
  ids: { from: string; before: string },
  limit: number,
): Promise<{ rows: { id: string; test: RestoreTestRecord }[]; hasMore: boolean }> {
  const sizes = await db
    .selectFrom("receipts")
    .select(["id", ENVELOPE_BYTES.as("bytes")])
    .where("source_id", "=", sourceId)
    .where("kind", "=", "restore_test")
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before)
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const { ids: within, isCut: hasMore } = idsWithin(sizes);
  if (within.length === 0) return { rows: [], hasMore };
  const receipts = await db
    .selectFrom("receipts")
    .select(["created_at", "agent_id", "backup_id"])
    .select(ENVELOPE_PLACE)
    .where("id", "in", within)
    .orderBy("id", "desc")
    .execute();
  const rows = envelopes.complete(receipts).map(({ id, created_at, agent_id, backup_id, envelope }) => {
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
  return { rows, hasMore };
}
