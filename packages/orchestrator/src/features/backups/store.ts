import { type Insertable, sql } from "kysely";
import type {
  BackupsTable,
  Database,
  DatabaseTransaction,
  UploadsTable,
} from "../../platform/database/schema.ts";

export interface Upload {
  id: string;
  org_id: string;
  source_id: string;
  agent_id: string;
  object_key: string;
  sha256: Buffer;
  size_bytes: number;
  /** The object store's id of a multipart upload, and the size of every part but the last. */
  multipart: { upload_id: string; part_bytes: number } | null;
  expires_at: Date;
}

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
 * in a newer one.
 */
export const LAST_CLEAN = sql<boolean>`(status = 'available' and backups.id = (
    select clean.id from backups as clean
    where clean.source_id = backups.source_id and clean.status = 'available' and clean.proven_at is not null
      and (clean.failed_at is null or clean.failed_at <= clean.proven_at)
      and (clean.suspicious_at is null or clean.suspicious_at < clean.proven_at)
    order by clean.id desc limit 1)
  and exists (
    select from backups as newer
    where newer.source_id = backups.source_id and newer.status = 'available' and newer.suspicious_at is not null and newer.id > backups.id
      and (newer.proven_at is null or newer.suspicious_at >= newer.proven_at)))`;

export const LISTED_BACKUP_COLUMNS = BACKUP_COLUMNS.filter((column) => column !== "source_metadata");

export async function insertUpload(tx: DatabaseTransaction, upload: Insertable<UploadsTable>): Promise<void> {
  await tx.insertInto("uploads").values(upload).execute();
}

export async function findUpload(db: Database, orgId: string, id: string): Promise<Upload | null> {
  const row = await db
    .selectFrom("uploads")
    .select([
      "id",
      "org_id",
      "source_id",
      "agent_id",
      "object_key",
      "sha256",
      "size_bytes",
      "multipart",
      "expires_at",
    ])
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .$narrowType<{ multipart: Upload["multipart"] }>()
    .executeTakeFirst();
  return row ?? null;
}

/** The upload got fresh URLs, valid until then. */
export async function renewUpload(tx: DatabaseTransaction, id: string, expiresAt: Date): Promise<void> {
  await tx.updateTable("uploads").set({ expires_at: expiresAt }).where("id", "=", id).execute();
}

/** Whether URLs of the upload to this key were still valid at that time. */
export async function isUploadAlive(db: Database, objectKey: string, at: Date): Promise<boolean> {
  const row = await db
    .selectFrom("uploads")
    .select("id")
    .where("object_key", "=", objectKey)
    .where("expires_at", ">=", at)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Keeps the upload from being forgotten until the transaction ends; false if it has been already.
 */
export async function holdUpload(tx: DatabaseTransaction, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom("uploads")
    .select("id")
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns null and writes nothing if the upload was registered before. */
export async function insertBackup(
  tx: DatabaseTransaction,
  backup: Insertable<BackupsTable>,
): Promise<Backup | null> {
  const row = await tx
    .insertInto("backups")
    .values(backup)
    .onConflict((conflict) => conflict.column("upload_id").doNothing())
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
 * Uploads after that id that have no backup and whose URLs expired before that moment, in the order
 * of their ids.
 */
export async function listAbandoned(
  db: Database,
  { before, after, limit }: { before: Date; after: string; limit: number },
): Promise<{ id: string; object_key: string }[]> {
  return db
    .selectFrom("uploads")
    .select(["id", "object_key"])
    .where("registered_at", "is", null)
    .where("expires_at", "<", before)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/**
 * Forgets the upload of a key that has no backup and whose URLs expired before that moment. False
 * if it was registered, or may still be: then its object is needed. Afterwards no registration can
 * name it.
 */
export async function forgetUpload(db: Database, objectKey: string, before: Date): Promise<boolean> {
  const { rows } = await sql<{ is_free: boolean }>`
    with forgotten as (
      delete from uploads where object_key = ${objectKey} and expires_at < ${before}
        and not exists (select from backups where backups.upload_id = uploads.id)
      returning id
    )
    select exists (select from forgotten)
      or not exists (select from uploads where object_key = ${objectKey})
      or exists (select from backups where object_key = ${objectKey} and object_removed_at is not null) as is_free`.execute(
    db,
  );
  return rows[0]?.is_free === true;
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
