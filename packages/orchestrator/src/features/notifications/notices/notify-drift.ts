import { createHash } from "node:crypto";
import type { DriftIndicator } from "@attestore/contract";
import type { ArchivedEnvelopes } from "../../../log/archive/archived-envelopes.ts";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { readDrift } from "../../drift/read-drift.ts";
import { queueNotification, isAskedFor } from "../../notification-queue/queue-notification.ts";
import type { LoggedReceipt } from "./log-entries.ts";
import { describeSubjects } from "./subjects.ts";

const MAX_INDICATORS = 30;
const MAX_NAMES = 20;

/**
 * Reports changes: for a backup's receipt, compared with the backup before; for a restore test's,
 * where it ran. The same changes of the same backup are reported once, however often it is tested.
 */
export async function notifyDrift(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  receipt: LoggedReceipt,
): Promise<void> {
  const type = "drift.detected";
  if (!(await isAskedFor(tx, orgId, type))) return;
  const { source_id: sourceId, backup_id, kind } = receipt;
  // The page that begins with this backup.
  const { items } = await readDrift(tx, envelopes, sourceId, { limit: 1, before: `${backup_id}~` });
  const found = items.filter(
    (indicator) =>
      indicator.backup_id === backup_id &&
      indicator.field.startsWith("runtime.") === (kind === "restore_test"),
  );
  if (found.length === 0) return;
  const said = createHash("sha256")
    .update(JSON.stringify(found.map(withoutTime)))
    .digest("base64url");
  await queueNotification(tx, {
    orgId,
    key: `drift ${backup_id} ${said}`,
    type,
    occurredAt: receipt.created_at,
    data: {
      ...(await describeSubjects(tx, orgId, { sourceId })),
      backup_id,
      receipt_id: receipt.id,
      indicators: found.slice(0, MAX_INDICATORS).map(shown),
      indicator_count: found.length,
    },
  });
}

const withoutTime = ({ kind, field, before, after }: DriftIndicator) => ({ kind, field, before, after });

function shown({ kind, field, before, after, changes }: DriftIndicator): Record<string, unknown> {
  return {
    kind,
    field,
    before,
    after,
    ...(changes === undefined
      ? {}
      : {
          changes: {
            added: changes.added.slice(0, MAX_NAMES),
            removed: changes.removed.slice(0, MAX_NAMES),
            altered: changes.altered.slice(0, MAX_NAMES),
          },
        }),
  };
}
