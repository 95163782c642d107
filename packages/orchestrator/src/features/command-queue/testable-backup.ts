import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { findAvailable } from "../backups/store.ts";

/** The id of this backup of the source, or of its newest, if its ciphertext still exists. */
export async function findTestableBackup(
  tx: DatabaseTransaction,
  sourceId: string,
  backupId: string | null,
): Promise<string | null> {
  return findAvailable(tx, sourceId, backupId);
}
