import type { Objectives, Retention, Schedule } from "@attestore/contract";
import type { Insertable, Updateable } from "kysely";
import type {
  Database,
  DatabaseTransaction,
  SourceLabels,
  SourcesTable,
} from "../../platform/database/schema.ts";

/** A source with everything that is configured and known about it. */
export interface ConfiguredSource {
  id: string;
  org_id: string;
  slug: string;
  name: string;
  engine: string;
  agent_id: string;
  test_agent_id: string | null;
  schedule: Schedule | null;
  retention: Retention | null;
  objectives: Objectives | null;
  labels: SourceLabels;
  last_backup_at: Date | null;
  last_proven_at: Date | null;
  next_backup_at: Date | null;
  next_restore_test_at: Date | null;
  created_at: Date;
  removed_at: Date | null;
}

export const SOURCE_COLUMNS = [
  "id",
  "org_id",
  "slug",
  "name",
  "engine",
  "agent_id",
  "test_agent_id",
  "schedule",
  "retention",
  "objectives",
  "labels",
  "last_backup_at",
  "last_proven_at",
  "next_backup_at",
  "next_restore_test_at",
  "created_at",
  "removed_at",
] as const;

/** Null for a removed one too. */
export async function findConfigured(
  db: Database,
  orgId: string,
  id: string,
): Promise<ConfiguredSource | null> {
  const row = await db
    .selectFrom("sources")
    .select(SOURCE_COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

export interface SourceFilter {
  agent_id?: string;
}

/** Newest first, one more than `limit`. */
export async function listConfigured(
  db: Database,
  orgId: string,
  filter: SourceFilter,
  range: { before: string | null; from: Date | null; to: Date | null },
  limit: number,
): Promise<ConfiguredSource[]> {
  let query = db
    .selectFrom("sources")
    .select(SOURCE_COLUMNS)
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null);
  if (range.before !== null) query = query.where("id", "<", range.before);
  if (range.from !== null) query = query.where("created_at", ">=", range.from);
  if (range.to !== null) query = query.where("created_at", "<", range.to);
  if (filter.agent_id !== undefined) query = query.where("agent_id", "=", filter.agent_id);
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

/** Returns null and writes nothing if the organisation has a source with that slug. */
export async function insertSource(
  tx: DatabaseTransaction,
  source: Insertable<SourcesTable>,
): Promise<ConfiguredSource | null> {
  const row = await tx
    .insertInto("sources")
    .values(source)
    .onConflict((conflict) =>
      conflict.columns(["org_id", "slug"]).where("removed_at", "is", null).doNothing(),
    )
    .returning(SOURCE_COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function updateSource(
  tx: DatabaseTransaction,
  id: string,
  changes: Updateable<SourcesTable>,
): Promise<ConfiguredSource> {
  return tx
    .updateTable("sources")
    .set(changes)
    .where("id", "=", id)
    .returning(SOURCE_COLUMNS)
    .executeTakeFirstOrThrow();
}
