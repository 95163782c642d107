import type { Database } from "../../platform/database/schema.ts";
import { endPolling } from "./end-polling.ts";
import { markSeen } from "../agents/store.ts";

/**
 * An agent's first authenticated call shows that it has its token, so the poll of an interactive
 * attach stops handing it out. Runs before the call itself: after a crash in between, the next call
 * counts as the first.
 */
export async function recordFirstCall(db: Database, agentId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await endPolling(tx, agentId);
    await markSeen(tx, agentId, new Date());
  });
}
