import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import type { Candidate } from "./plan.ts";

/** How long a backup is kept for a command that an agent took and never answered. */
const LOST_AFTER_MS = 7 * 86_400_000;

/**
 * The source's available backups, newest first by the service's clock, whichever agents made them.
 */
export async function listAvailable(db: Database, sourceId: string): Promise<Candidate[]> {
  const rows = await db
    .selectFrom("backups")
    .select([
      "id",
      "sha256",
      "made_at",
      "created_at",
      "proven_at",
      "failed_at",
      "suspicious_at",
      "size_bytes",
    ])
    .select(["kept_at", "expires_at", "removal_told_at"])
    .where("source_id", "=", sourceId)
    .where("status", "=", "available")
    .orderBy("id", "desc")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    at: row.created_at,
    madeAt: row.made_at,
    sha256: row.sha256,
    provenAt: row.proven_at,
    failedAt: row.failed_at,
    suspiciousAt: row.suspicious_at,
    sizeBytes: row.size_bytes,
    keptAt: row.kept_at,
    expiresAt: row.expires_at,
    toldAt: row.removal_told_at,
  }));
}

/** The backups of unfinished commands. */
export async function listNeeded(db: Database, sourceId: string, now: Date): Promise<Set<string>> {
  const lost = new Date(now.getTime() - LOST_AFTER_MS);
  const { rows } = await sql<{ backup_id: string }>`
    select distinct params ->> 'backup_id' as backup_id from commands
    where source_id = ${sourceId} and outcome = '{}' and ended_at is null and params ? 'backup_id'
      and (status <> 'acked' or acked_at > ${lost})`.execute(db);
  return new Set(rows.map(({ backup_id }) => backup_id));
}

/** Sources with rules after that id, in the order of their ids. */
export async function listRetained(
  db: Database,
  after: string,
  limit: number,
): Promise<{ id: string; org_id: string }[]> {
  return db
    .selectFrom("sources")
    .select(["id", "org_id"])
    .where("retention", "is not", null)
    .where("removed_at", "is", null)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Records that these go at that moment. */
export async function setAnnounced(
  tx: DatabaseTransaction,
  ids: readonly string[],
  expiresAt: Date,
): Promise<void> {
  await tx
    .updateTable("backups")
    .set({ expires_at: expiresAt, removal_told_at: null })
    .where("id", "in", ids)
    .execute();
}

/** Records that these stay after all. */
export async function clearAnnounced(tx: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  await tx
    .updateTable("backups")
    .set({ expires_at: null, removal_told_at: null })
    .where("id", "in", ids)
    .execute();
}

/** Records that these have expired. Their objects are removed afterwards. */
export async function setExpired(tx: DatabaseTransaction, ids: readonly string[], at: Date): Promise<void> {
  await tx
    .updateTable("backups")
    .set({ status: "expired", expires_at: at, removal_due_at: at })
    .where("id", "in", ids)
    .where("status", "=", "available")
    .execute();
}

export interface RemovableObject {
  id: string;
  org_id: string;
  object_key: string;
}

export async function listRemovable(db: Database, now: Date, limit: number): Promise<RemovableObject[]> {
  return db
    .selectFrom("backups")
    .select(["id", "org_id", "object_key"])
    .where("status", "=", "expired")
    .where("object_removed_at", "is", null)
    .where("removal_due_at", "<=", now)
    .orderBy("removal_due_at")
    .limit(limit)
    .execute();
}

export async function setObjectRemoved(
  db: Database,
  { id, org_id }: RemovableObject,
  at: Date,
): Promise<void> {
  await runInOrg(db, org_id, (tx) =>
    tx.updateTable("backups").set({ object_removed_at: at }).where("id", "=", id).execute(),
  );
}

export async function postponeRemoval(
  db: Database,
  { id, org_id }: RemovableObject,
  until: Date,
): Promise<void> {
  await runInOrg(db, org_id, (tx) =>
    tx.updateTable("backups").set({ removal_due_at: until }).where("id", "=", id).execute(),
  );
}

/**
 * Finds the keys that are needed: those of backups whose object was not removed yet, and those of
 * unregistered uploads that expire at that moment or later.
 */
export async function listNeededObjects(
  db: Database,
  keys: readonly string[],
  before: Date,
): Promise<Set<string>> {
  const { rows } = await sql<{ object_key: string }>`
    select object_key from backups
    where object_key = any(${[...keys]}::text[]) and object_removed_at is null
    union select object_key from uploads
    where object_key = any(${[...keys]}::text[]) and expires_at >= ${before}
      and not exists (select from backups where backups.upload_id = uploads.id)`.execute(db);
  return new Set(rows.map(({ object_key }) => object_key));
}
