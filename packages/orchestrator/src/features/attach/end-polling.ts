import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { forgetToken } from "./store.ts";

/** Forgets the sealed token of an agent that attached interactively; nothing for any other. */
export async function endPolling(tx: DatabaseTransaction, agentId: string): Promise<void> {
  await forgetToken(tx, agentId);
}
