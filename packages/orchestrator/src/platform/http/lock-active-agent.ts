import type { DatabaseTransaction } from "../database/schema.ts";
import { ApiError } from "./errors.ts";

export function agentRevoked(): ApiError {
  return new ApiError(
    "agent_revoked",
    "This agent has been revoked. Attach the host again with a new auth key.",
  );
}

/**
 * Locks the agent's row until the transaction ends and throws 401 if it is revoked: after a revocation has committed, on whatever
 * replica, no write of that agent can. Foreign keys to the row are not held up by it.
 */
export async function lockActiveAgent(tx: DatabaseTransaction, agentId: string): Promise<void> {
  const row = await tx
    .selectFrom("agents")
    .select("status")
    .where("id", "=", agentId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row?.status !== "active") throw agentRevoked();
}
