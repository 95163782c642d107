import type { Selectable } from "kysely";
import type { ApiLogsTable, Database } from "../../platform/database/schema.ts";

export type ListedApiLog = Selectable<ApiLogsTable>;

export interface ApiLogFilter {
  /** The caller, or the operator who acted as them. */
  actor_id?: string;
  agent_id?: string;
  method?: string;
  kind?: ApiLogsTable["actor_kind"];
  status?: number;
}

interface Ids {
  from: string;
  before: string;
}

/**
 * Newest first, one more than `limit`. The ids are found first, because every filter has an index
 * of them. If PostgreSQL had to find the rows themselves, it might search all of the organisation's
 * newest calls for a kind that is common but did not occur lately.
 */
export async function listApiLogs(
  db: Database,
  orgId: string,
  { actor_id, ...filter }: ApiLogFilter,
  ids: Ids,
  limit: number,
): Promise<ListedApiLog[]> {
  const matching = () => newestIds(db, orgId, filter, ids, limit);
  const found =
    actor_id === undefined
      ? matching()
      : db
          .selectFrom(matching().where("actor_id", "=", actor_id).as("of_actor"))
          .select("id")
          .union(
            db
              .selectFrom(matching().where("impersonator_id", "=", actor_id).as("of_impersonator"))
              .select("id"),
          )
          .orderBy("id", "desc")
          .limit(limit + 1);
  return (
    db
      .selectFrom(found.as("found"))
      // One at a time by the key, instead of reading all in the hope of finding these. If all
      // columns were asked for at once, PostgreSQL would walk over all rows for a filter of which
      // few are.
      .innerJoinLateral(
        (from) =>
          from
            .selectFrom("api_logs")
            .selectAll()
            .whereRef("api_logs.id", "=", "found.id")
            .limit(1)
            .as("call"),
        (join) => join.onTrue(),
      )
      .selectAll("call")
      .orderBy("call.id", "desc")
      .execute()
  );
}

function newestIds(
  db: Database,
  orgId: string,
  filter: Omit<ApiLogFilter, "actor_id">,
  ids: Ids,
  limit: number,
) {
  let query = db
    .selectFrom("api_logs")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  if (filter.method !== undefined) query = query.where("method", "=", filter.method);
  if (filter.agent_id !== undefined) query = query.where("actor_id", "=", filter.agent_id);
  if (filter.kind !== undefined) query = query.where("actor_kind", "=", filter.kind);
  if (filter.status !== undefined) query = query.where("status", "=", filter.status);
  return query.orderBy("id", "desc").limit(limit + 1);
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
