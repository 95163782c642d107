import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import type { About } from "./incident-store.ts";

/** Names for people: the organisation, and the source or agent that a message is about. */
export async function describeSubjects(
  tx: DatabaseTransaction,
  orgId: string,
  about: About,
): Promise<Record<string, unknown>> {
  const org = await tx
    .selectFrom("orgs")
    .select(["id", "name"])
    .where("id", "=", orgId)
    .executeTakeFirstOrThrow();
  if ("sourceId" in about) {
    const source = await tx
      .selectFrom("sources")
      .select(["id", "slug", "name", "engine"])
      .where("id", "=", about.sourceId)
      .executeTakeFirst();
    return { org, source: source ?? { id: about.sourceId } };
  }
  const agent = await tx
    .selectFrom("agents")
    .select(["id", "name", "hostname"])
    .where("id", "=", about.agentId)
    .executeTakeFirst();
  return { org, agent: agent ?? { id: about.agentId } };
}
