import { newId, type RegisterSourceRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { requireActiveAgent } from "./active-agent.ts";
import { type ConfiguredSource, insertSource } from "./configured-source.ts";

/**
 * Registers a source before its agent declares it, or again after it was removed. Throws
 * `not_found` if the organisation has no such agent, `conflict` if it is revoked, and
 * `already_exists` if the slug is taken.
 */
export async function registerSource(
  tx: DatabaseTransaction,
  orgId: string,
  request: RegisterSourceRequest,
  now: Date,
): Promise<ConfiguredSource> {
  const { slug, engine, agent_id, test_agent_id = null } = request;
  await requireActiveAgent(tx, orgId, agent_id);
  if (test_agent_id !== null) await requireActiveAgent(tx, orgId, test_agent_id);
  const source = await insertSource(tx, {
    id: newId("source", now.getTime()),
    org_id: orgId,
    slug,
    name: request.name ?? slug,
    engine,
    agent_id,
    test_agent_id,
    created_at: now,
  });
  if (source === null)
    throw new ApiError("already_exists", `The organisation has a source with the slug "${slug}".`, { slug });
  return source;
}
