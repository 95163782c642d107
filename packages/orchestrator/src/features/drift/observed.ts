import type { Statement } from "@attestore/proof";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import { predicateIn } from "../receipts/stored-statement.ts";

/** What is known of how a backup was made, and of the newest test that restored it. */
export interface ObservedBackup {
  id: string;
  made_at: Date;
  agent_id: string;
  /** Without its summary of the schema, which may be large. */
  metadata: Readonly<Record<string, unknown>>;
  cipher: { name: string; recipients: string[] };
  agentVersion: string | null;
  test: ObservedTest | null;
}

export interface ObservedTest {
  at: Date;
  runtime: Readonly<Record<string, unknown>>;
}

/** The source's backups before that id, newest first. */
export async function observeBackups(
  db: Database,
  sourceId: string,
  before: string | null,
  limit: number,
): Promise<ObservedBackup[]> {
  let query = db
    .selectFrom("backups")
    .select(["id", "made_at", "agent_id", "cipher"])
    .select(sql<Record<string, unknown>>`source_metadata - 'schema_summary'`.as("metadata"))
    .where("source_id", "=", sourceId);
  if (before !== null) query = query.where("id", "<", before);
  const rows = await query.orderBy("id", "desc").limit(limit).execute();
  const predicates = await readPredicates(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const made = predicates.get(`backup ${row.id}`);
    const tested = predicates.get(`restore_test ${row.id}`);
    return {
      ...row,
      agentVersion: made?.predicate.agent_version ?? null,
      test: tested === undefined ? null : testOf(tested),
    };
  });
}

function testOf({ at, predicate }: Signed): ObservedTest | null {
  return "runtime" in predicate ? { at, runtime: { ...predicate.runtime } } : null;
}

interface Signed {
  at: Date;
  predicate: Statement["predicate"];
}

/** The newest receipt of each kind and backup. */
async function readPredicates(db: Database, backupIds: readonly string[]): Promise<Map<string, Signed>> {
  if (backupIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("receipts")
    .distinctOn(["backup_id", "kind"])
    .select(["backup_id", "kind", "envelope", "created_at"])
    .where("backup_id", "in", backupIds)
    .orderBy("backup_id")
    .orderBy("kind")
    .orderBy("id", "desc")
    .execute();
  return new Map(
    rows.map((row) => [
      `${row.kind} ${row.backup_id}`,
      { at: row.created_at, predicate: predicateIn(row.envelope) },
    ]),
  );
}

/** `schema_summary` of these backups, as their agent sent it. */
export async function readSummaries(db: Database, ids: readonly string[]): Promise<Map<string, unknown>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("backups")
    .select("id")
    .select(sql<unknown>`source_metadata -> 'schema_summary'`.as("summary"))
    .where("id", "in", ids)
    .execute();
  return new Map(rows.map(({ id, summary }) => [id, summary]));
}
