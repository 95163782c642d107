import type { Database } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { findSource, type Source } from "./store.ts";

/** The source, if this agent makes its backups. Throws `not_found` and `forbidden`. */
export async function requireOwnedSource(
  db: Database,
  agent: { id: string; orgId: string },
  sourceId: string,
): Promise<Source> {
  const source = await findSource(db, agent.orgId, sourceId);
  if (source === null) throw notFound("source");
  if (source.agent_id !== agent.id)
    throw new ApiError("forbidden", "Another agent makes the backups of this source.");
  return source;
}
