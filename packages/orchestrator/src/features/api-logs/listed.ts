import type { Selectable } from "kysely";
import type { ApiLogsTable, Database } from "../../platform/database/schema.ts";

export type ListedApiLog = Selectable<ApiLogsTable>;

export interface ApiLogFilter {
  agent_id?: string;
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
