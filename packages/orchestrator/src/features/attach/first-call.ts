import type { Database } from "../../platform/database/schema.ts";
import { endPolling } from "./end-polling.ts";
import { markSeen } from "../agents/store.ts";

/**
 * An agent's first authenticated call shows that it has its token: the poll of an interactive
 * attach gives it no more. Runs before the call itself; a crash in between only leaves the next
 * call to be the first.
 */
export async function recordFirstCall(db: Database, agentId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await endPolling(tx, agentId);
    await markSeen(tx, agentId, new Date());
  });
}
