import type { IncidentKind, IncidentRecord } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";

export interface Incident {
  id: string;
  org_id: string;
  kind: IncidentKind;
  source_id: string | null;
  agent_id: string | null;
  began_at: Date;
  ended_at: Date | null;
}

const COLUMNS = ["id", "org_id", "kind", "source_id", "agent_id", "began_at", "ended_at"] as const;

export interface IncidentFilter {
  source_id?: string;
  agent_id?: string;
  kind?: IncidentKind;
  status?: "open" | "ended";
}

/** Newest first, one more than `limit`. */
export async function listIncidents(
  db: Database,
  orgId: string,
  filter: IncidentFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<Incident[]> {
  let query = db
    .selectFrom("incidents")
    .select(COLUMNS)
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  if (filter.source_id !== undefined) query = query.where("source_id", "=", filter.source_id);
  if (filter.agent_id !== undefined) query = query.where("agent_id", "=", filter.agent_id);
  if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
  if (filter.status !== undefined)
    query = query.where("ended_at", filter.status === "open" ? "is" : "is not", null);
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

/** Those of a source and of the agents that back it up and test it. */
export async function openIncidents(
  db: Database,
  { sourceId, agentIds }: { sourceId: string; agentIds: readonly string[] },
): Promise<Incident[]> {
  return db
    .selectFrom("incidents")
    .select(COLUMNS)
    .where("ended_at", "is", null)
    .where((where) => where.or([where("source_id", "=", sourceId), where("agent_id", "in", agentIds)]))
    .orderBy("id", "desc")
    .execute();
}

export function incidentRecord(incident: Incident): IncidentRecord {
  const { id, org_id, kind, source_id, agent_id } = incident;
  return {
    id,
    org_id,
    kind,
    source_id,
    agent_id,
    began_at: incident.began_at.toISOString(),
    ended_at: incident.ended_at?.toISOString() ?? null,
  };
}
