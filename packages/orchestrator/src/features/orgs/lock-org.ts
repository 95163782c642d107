import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { lockOrgRow } from "./store.ts";

/**
 * Orders the transactions that change who belongs to an organisation. What refers to its row goes
 * on meanwhile.
 */
export async function lockOrg(tx: DatabaseTransaction, id: string): Promise<void> {
  await lockOrgRow(tx, id);
}
