import type { Selectable } from "kysely";
import type { ApiLogsTable, Database } from "../../platform/database/schema.ts";

export type ListedApiLog = Selectable<ApiLogsTable>;

export interface ApiLogFilter {
  /** Of whoever called, or of the operator who acted as them. */
  actor_id?: string;
  agent_id?: string;
  method?: string;
  kind?: ApiLogsTable["actor_kind"];
  status?: number;
}

/** Newest first, one more than `limit`. */
export async function listApiLogs(
  db: Database,
  orgId: string,
  filter: ApiLogFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<ListedApiLog[]> {
  let query = db
    .selectFrom("api_logs")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  if (filter.actor_id !== undefined) {
    const { actor_id } = filter;
    query = query.where((where) =>
      where.or([where("actor_id", "=", actor_id), where("impersonator_id", "=", actor_id)]),
    );
  }
  if (filter.method !== undefined) query = query.where("method", "=", filter.method);
  if (filter.agent_id !== undefined) query = query.where("actor_id", "=", filter.agent_id);
  if (filter.kind !== undefined) query = query.where("actor_kind", "=", filter.kind);
  if (filter.status !== undefined) query = query.where("status", "=", filter.status);
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

export async function findApiLog(db: Database, orgId: string, id: string): Promise<ListedApiLog | null> {
  const row = await db
    .selectFrom("api_logs")
    .selectAll()
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row ?? null;
}
