import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { findAvailable } from "../backups/store.ts";

/** The id of this backup of the source, or of its newest one, if its ciphertext is still there. */
export async function findTestableBackup(
  tx: DatabaseTransaction,
  sourceId: string,
  backupId: string | null,
): Promise<string | null> {
  return findAvailable(tx, sourceId, backupId);
}
