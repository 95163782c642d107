import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import { notifyAgent } from "../../platform/database/agent-notices.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { loggedActor } from "../logged-actor.ts";
import { type Agent, findAgent, setRevoked } from "./store.ts";

/**
 * Revokes an agent. Writing the log entry takes the lock that orders the organisation's
 * submissions: a submission that waits for it sees the revocation, and one that came first is
 * committed. Throws `not_found` and `conflict`.
 */
export async function revokeAgent(
  tx: DatabaseTransaction,
  { agentId, actorId }: { agentId: string; actorId: string },
): Promise<Agent> {
  const revokedAt = new Date();
  const agent = await setRevoked(tx, agentId, revokedAt);
  if (agent === null) {
    if ((await findAgent(tx, agentId)) === null) throw notFound("agent");
    throw new ApiError("conflict", "This agent is already revoked.");
  }
  await notifyAgent(tx, agentId);
  await appendInTransaction(tx, [
    {
      orgId: agent.org_id,
      kind: "agent_revoked",
      ...loggedActor(actorId, {
        agent_id: agent.id,
        name: agent.name,
        key_fingerprint: agent.key_fingerprint,
      }),
      occurredAt: revokedAt,
    },
  ]);
  return agent;
}
