import { createHash } from "node:crypto";
import type { Suspicion } from "@attestore/proof";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { queueNotification, isAskedFor } from "../../notification-queue/queue-notification.ts";
import { restoreTestIn } from "../../receipts/stored-statement.ts";
import type { LoggedReceipt } from "./log-entries.ts";
import { shortText } from "./short-text.ts";
import { describeSubjects } from "./subjects.ts";

const MAX_NAMED = 20;

/**
 * Reports suspicious data that were restored and passed. The same finding of a source is reported
 * once, until somebody accepts it: afterwards it is compared with other tests.
 */
export async function notifySuspicious(
  tx: DatabaseTransaction,
  orgId: string,
  receipt: LoggedReceipt,
): Promise<void> {
  const type = "restore_test.suspicious";
  if (receipt.kind !== "restore_test" || receipt.result !== "passed") return;
  if (!(await isAskedFor(tx, orgId, type))) return;
  const { id, source_id: sourceId, backup_id } = receipt;
  const found = restoreTestIn(receipt.envelope).profile?.suspicious ?? [];
  if (found.length === 0) return;
  const said = createHash("sha256")
    .update(JSON.stringify(found.map(withoutNow).toSorted()))
    .digest("base64url");
  await queueNotification(tx, {
    orgId,
    key: `suspicious ${sourceId} ${said}`,
    type,
    occurredAt: receipt.created_at,
    data: {
      ...(await describeSubjects(tx, orgId, { sourceId })),
      backup_id,
      receipt_id: id,
      suspicious: found.slice(0, MAX_NAMED).map(shown),
      suspicious_count: found.length,
    },
  });
}

function withoutNow({ table, column, measure, before }: Suspicion): string {
  return JSON.stringify([table, column, measure, before]);
}

/** Names, as an agent wrote them, and two numbers or days. */
function shown({ table, column, measure, now, before }: Suspicion): Record<string, unknown> {
  const short = (value: number | string): number | string =>
    typeof value === "number" ? value : shortText(value).slice(0, 20);
  return {
    table: shortText(table),
    column: shortText(column),
    measure,
    now: short(now),
    before: short(before),
  };
}
