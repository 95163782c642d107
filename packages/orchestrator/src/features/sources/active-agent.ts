import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";

/** Throws `not_found` if the organisation has no such agent, and `conflict` if it is revoked. */
export async function requireActiveAgent(
  tx: DatabaseTransaction,
  orgId: string,
  agentId: string,
): Promise<void> {
  const agent = await tx
    .selectFrom("agents")
    .select("status")
    .where("id", "=", agentId)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  if (agent === undefined) throw notFound("agent");
  if (agent.status !== "active")
    throw new ApiError("conflict", `The agent ${agentId} is revoked. Name another one.`);
}
