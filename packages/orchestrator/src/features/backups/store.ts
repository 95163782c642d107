import { type Insertable, sql } from "kysely";
import type { BackupsTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";

export interface Backup {
  id: string;
  org_id: string;
  source_id: string;
  agent_id: string;
  object_key: string;
  sha256: Buffer;
  size_bytes: number;
  cipher: { name: "age-v1"; recipients: string[] };
  source_metadata: { engine: string; engine_version: string; dump_format: string; schema_hash: string };
  status: "available" | "expired";
  made_at: Date;
  proven_at: Date | null;
  failed_at: Date | null;
  failed_receipt_id: string | null;
  suspicious_at: Date | null;
  /** Only in lists. */
  last_clean?: boolean;
  expires_at: Date | null;
  kept_at: Date | null;
}

export const BACKUP_COLUMNS = [
  "id",
  "org_id",
  "source_id",
  "agent_id",
  "object_key",
  "sha256",
  "size_bytes",
  "cipher",
  "source_metadata",
  "status",
  "made_at",
  "proven_at",
  "failed_at",
  "failed_receipt_id",
  "suspicious_at",
  "expires_at",
  "kept_at",
] as const;

/**
 * Lists show this instead of the whole `source_metadata`: what every engine reports. The rest can
 * be large and is in the backup's own record.
 */
export const LISTED_METADATA = sql<Backup["source_metadata"]>`jsonb_build_object(
  'engine', source_metadata -> 'engine', 'engine_version', source_metadata -> 'engine_version',
  'dump_format', source_metadata -> 'dump_format', 'schema_hash', source_metadata -> 'schema_hash')`;

/**
 * Whether it is the newest of its source in whose last test nothing stood out, while something does
 * in a newer one. Few backups are suspicious, so that is asked first.
 */
export const LAST_CLEAN = sql<boolean>`(status = 'available' and exists (
    select from backups as newer
    where newer.source_id = backups.source_id and newer.status = 'available' and newer.suspicious_at is not null and newer.id > backups.id
      and (newer.proven_at is null or newer.suspicious_at >= newer.proven_at))
  and backups.id = (
    select clean.id from backups as clean
    where clean.source_id = backups.source_id and clean.status = 'available' and clean.proven_at is not null
      and (clean.failed_at is null or clean.failed_at <= clean.proven_at)
      and (clean.suspicious_at is null or clean.suspicious_at < clean.proven_at)
    order by clean.id desc limit 1))`;

export const LISTED_BACKUP_COLUMNS = BACKUP_COLUMNS.filter((column) => column !== "source_metadata");

/** Returns null and writes nothing if the upload was registered before. */
export async function insertBackup(
  tx: DatabaseTransaction,
  backup: Insertable<BackupsTable>,
): Promise<Backup | null> {
  const row = await tx
    .insertInto("backups")
    .values(backup)
    .onConflict((conflict) => conflict.doNothing())
    .returning(BACKUP_COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function findBackupOfUpload(db: Database, uploadId: string): Promise<string | null> {
  const row = await db
    .selectFrom("backups")
    .select("id")
    .where("upload_id", "=", uploadId)
    .executeTakeFirst();
  return row?.id ?? null;
}

export async function findBackup(db: Database, orgId: string, id: string): Promise<Backup | null> {
  const row = await db
    .selectFrom("backups")
    .select(BACKUP_COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row ?? null;
}

/** Of any organisation: for the service's own console. */
export async function findBackupAnywhere(db: Database, id: string): Promise<Backup | null> {
  const row = await db.selectFrom("backups").select(BACKUP_COLUMNS).where("id", "=", id).executeTakeFirst();
  return row ?? null;
}

/** This backup of the source, or its newest, if it is available. */
export async function findAvailable(
  db: Database,
  sourceId: string,
  backupId: string | null,
): Promise<string | null> {
  let query = db
    .selectFrom("backups")
    .select("id")
    .where("source_id", "=", sourceId)
    .where("status", "=", "available");
  if (backupId !== null) query = query.where("id", "=", backupId);
  const row = await query.orderBy("id", "desc").limit(1).executeTakeFirst();
  return row?.id ?? null;
}

/**
 * A page of the backups whose receipt is in the log and whose removal is not announced, oldest
 * first.
 */
export async function listKept(
  db: Database,
  sourceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ backup_ids: string[]; next_cursor: string | null }> {
  const page = await db
    .selectFrom("backups")
    .select(["id", "expires_at"])
    .where("source_id", "=", sourceId)
    .where("status", "=", "available")
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
  const kept = page.flatMap(({ id, expires_at }) => (expires_at === null ? [id] : []));
  const logged = await db
    .selectFrom("receipts")
    .select("backup_id")
    .where("backup_id", "in", kept.length === 0 ? [""] : kept)
    .where("kind", "=", "backup")
    .execute();
  const known = new Set(logged.map(({ backup_id }) => backup_id));
  return {
    backup_ids: kept.filter((id) => known.has(id)),
    next_cursor: page.length < limit ? null : (page.at(-1)?.id ?? null),
  };
}
