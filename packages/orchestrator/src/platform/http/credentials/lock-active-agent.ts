import { runPrepared, type PreparedQuery } from "../../database/prepared.ts";
import type { DatabaseTransaction } from "../../database/schema.ts";
import { ApiError } from "../../errors/api-error.ts";

export function agentRevoked(): ApiError {
  return new ApiError(
    "agent_revoked",
    "This agent has been revoked. Attach the host again with a new auth key.",
  );
}

const LOCK: PreparedQuery = {
  name: "agent_lock",
  text: "select status from agents where id = $1 for no key update",
};

/**
 * Locks the agent's row until the transaction ends and throws 401 if it is revoked. Once a
 * revocation has committed, on any replica, that agent can write nothing. Foreign keys to the row
 * don't have to wait.
 */
export async function lockActiveAgent(tx: DatabaseTransaction, agentId: string): Promise<void> {
  const [row] = await runPrepared<{ status: string }>(tx, LOCK, [agentId]);
  if (row?.status !== "active") throw agentRevoked();
}
