import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import type { TroubleKind } from "./incident-store.ts";
import type { LoggedReceipt } from "./log-entries.ts";

/**
 * Returns the kinds of failures that this run does not disprove. One is a failure after the run
 * that the log has before the run's receipt: the receipt came late, because the host was cut off or
 * the backup is large. The other is an earlier failed restore test of a newer backup
 * (packages/proof, proven/).
 */
export async function failedSince(
  tx: DatabaseTransaction,
  { source_id, backup_id, log_index, happened_at }: LoggedReceipt,
): Promise<Set<TroubleKind>> {
  const at = happened_at.getTime();
  const { rows } = await sql<{ kind: TroubleKind }>`
    select case kind when 'restore_failed' then 'restore_test_could_not_run' else kind end as kind from events
    where source_id = ${source_id} and id >= ${firstIdAt("event", at)} and kind in ('backup_failed', 'restore_failed')
      and log_index < ${log_index} and least(occurred_at, created_at) > ${happened_at}
    union
    select 'restore_test_failed' from receipts
    where source_id = ${source_id} and id >= ${firstIdAt("receipt", at)} and kind = 'restore_test' and result = 'failed'
      and log_index < ${log_index} and happened_at > ${happened_at}
    union
    select 'restore_test_failed' from receipts
    where source_id = ${source_id} and result = 'failed' and log_index < ${log_index} and backup_id > ${backup_id}`.execute(
    tx,
  );
  return new Set(rows.map(({ kind }) => kind));
}
