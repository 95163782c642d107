import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { forgetToken } from "./store.ts";

/**
 * Deletes the sealed token of an agent that attached interactively; does nothing for other agents.
 */
export async function endPolling(tx: DatabaseTransaction, agentId: string): Promise<void> {
  await forgetToken(tx, agentId);
}
