import { type Insertable, sql } from "kysely";
import type { Database, DatabaseTransaction, UploadsTable } from "../../platform/database/schema.ts";

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
