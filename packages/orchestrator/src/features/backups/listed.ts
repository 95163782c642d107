import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { Backup } from "./store.ts";
import { BACKUP_COLUMNS } from "./store.ts";

export interface BackupFilter {
  source_id?: string;
  agent_id?: string;
  status?: "available" | "expired";
}

const FILTERS = ["source_id", "agent_id", "status"] as const;

/** Newest first, one more than `limit`. The period is of when the agent made them, as the record's `created_at` says. */
export async function listBackups(
  db: Database,
  orgId: string,
  filter: BackupFilter,
  range: { before: string; from: Date | null; to: Date | null },
  limit: number,
): Promise<Backup[]> {
  let query = db
    .selectFrom("backups")
    .select(BACKUP_COLUMNS)
    .where("org_id", "=", orgId)
    .where("id", "<", range.before);
  for (const name of FILTERS) {
    const value = filter[name];
    if (value !== undefined) query = query.where(sql<boolean>`${sql.ref(name)} = ${value}`);
  }
  if (range.from !== null) query = query.where("made_at", ">=", range.from);
  if (range.to !== null) query = query.where("made_at", "<", range.to);
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}
