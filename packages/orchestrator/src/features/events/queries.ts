import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import { idsWithin } from "../../platform/http/route/pagination.ts";

export interface ListedEvent {
  id: string;
  org_id: string;
  kind: string;
  source_id: string | null;
  backup_id: string | null;
  command_id: string | null;
  actor_id: string;
  occurred_at: Date;
  body: Buffer;
  log_index: number;
  leaf_hash: Buffer;
  created_at: Date;
  envelope: Buffer | null;
}

export interface EventFilter {
  source_id?: string;
  agent_id?: string;
  kind?: string;
}

export const EVENT_COLUMNS = [
  "id",
  "org_id",
  "kind",
  "source_id",
  "backup_id",
  "command_id",
  "actor_id",
  "occurred_at",
  "body",
  "log_index",
  "leaf_hash",
  "created_at",
  "envelope",
] as const;

/**
 * Newest first, one more than `limit`, or as many as a page has room for; then `hasMore` is set.
 */
export async function listEvents(
  db: Database,
  orgId: string,
  filter: EventFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<{ rows: ListedEvent[]; hasMore: boolean }> {
  let query = db
    .selectFrom("events")
    .select(["id", sql<number>`octet_length(body) + coalesce(octet_length(envelope), 0)`.as("bytes")])
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  if (filter.source_id !== undefined) query = query.where("source_id", "=", filter.source_id);
  if (filter.agent_id !== undefined) query = query.where("actor_id", "=", filter.agent_id);
  if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
  const found = await query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const { ids: within, isCut: hasMore } = idsWithin(found);
  if (within.length === 0) return { rows: [], hasMore };
  const rows = await db
    .selectFrom("events")
    .select(EVENT_COLUMNS)
    .where("id", "in", within)
    .orderBy("id", "desc")
    .execute();
  return { rows, hasMore };
}

export async function findEvent(db: Database, orgId: string, id: string): Promise<ListedEvent | null> {
  const row = await db
    .selectFrom("events")
    .select(EVENT_COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row ?? null;
}
