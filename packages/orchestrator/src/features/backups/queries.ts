import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { Backup } from "./store.ts";
import { LAST_CLEAN, LISTED_BACKUP_COLUMNS, LISTED_METADATA } from "./store.ts";
import { CLOCKS_DIFFER_MS } from "../sources/read-tests.ts";

export interface BackupFilter {
  source_id?: string;
  agent_id?: string;
  status?: "available" | "expired";
}

const FILTERS = ["source_id", "agent_id", "status"] as const;

/**
 * One hour, as for `registered_late`, and one more for clocks that differ: a backup that isn't late
 * has an id from before that.
 */
const REGISTERED_WITHIN_MS = 3_600_000 + CLOCKS_DIFFER_MS;

interface Range {
  before: string;
  from: Date | null;
  to: Date | null;
}

/**
 * Newest first, one more than `limit`. The period is about when the agent made them, the record's
 * `created_at`.
 */
export async function listBackups(
  db: Database,
  orgId: string,
  filter: BackupFilter,
  range: Range,
  limit: number,
): Promise<Backup[]> {
  const matching = (before: string) => selection(db, orgId, filter, { ...range, before }, limit);
  if (range.to === null) return matching(range.before).execute();
  // Without a bound, finding the newest of an old period would read everything that was made since.
  const end = firstIdAt("backup", range.to.getTime() + REGISTERED_WITHIN_MS);
  if (range.before <= end) return matching(range.before).execute();
  const late = await matching(range.before)
    .where("id", ">=", end)
    .where("registered_late", "=", true)
    .execute();
  if (late.length > limit) return late;
  return [...late, ...(await matching(end).execute())].slice(0, limit + 1);
}

function selection(db: Database, orgId: string, filter: BackupFilter, range: Range, limit: number) {
  let query = db
    .selectFrom("backups")
    .select(LISTED_BACKUP_COLUMNS)
    .select(LISTED_METADATA.as("source_metadata"))
    .select(LAST_CLEAN.as("last_clean"))
    .where("org_id", "=", orgId)
    .where("id", "<", range.before);
  for (const name of FILTERS) {
    const value = filter[name];
    if (value !== undefined) query = query.where(sql<boolean>`${sql.ref(name)} = ${value}`);
  }
  // No backup is registered before it was made: with the ids, one of a source is looked for among
  // those of the period alone.
  if (range.from !== null)
    query = query
      .where("made_at", ">=", range.from)
      .where("id", ">=", firstIdAt("backup", range.from.getTime() - CLOCKS_DIFFER_MS));
  if (range.to !== null) query = query.where("made_at", "<", range.to);
  return query.orderBy("id", "desc").limit(limit + 1);
}
