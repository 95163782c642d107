import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { lockOrgRow } from "./store.ts";

/**
 * Orders the transactions that change who belongs to an organisation. Writes that only refer to its
 * row continue.
 */
export async function lockOrg(tx: DatabaseTransaction, id: string): Promise<void> {
  await lockOrgRow(tx, id);
}
