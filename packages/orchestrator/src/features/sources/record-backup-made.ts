import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { setLastBackup } from "./store.ts";

/** Moves a source's `last_backup_at` forward, never back. */
export async function recordBackupMade(
  tx: DatabaseTransaction,
  sourceId: string,
  madeAt: Date,
): Promise<void> {
  await setLastBackup(tx, sourceId, madeAt);
}
