import { newId } from "@attestore/contract";
import { randomBytes } from "node:crypto";
import { changesSinceNewest } from "../src/features/schema-changes/stored-changes.ts";
import type { Database } from "../src/platform/database/schema.ts";

export interface RecordedBackup {
  orgId: string;
  sourceId: string;
  agentId: string;
  /** When it was registered. */
  at: Date;
  /** As it was registered, unless told. */
  madeAt?: Date;
  provenAt?: Date;
  objectKey?: string;
  cipher?: { name: "age-v1"; recipients: string[] };
  metadata?: Record<string, unknown>;
  /** 1000 unless told. */
  sizeBytes?: number;
}

/** A backup as it is registered, at whatever time a test likes. */
export async function recordBackup(db: Database, backup: RecordedBackup): Promise<string> {
  const { orgId, sourceId, agentId, at } = backup;
  const [id, uploadId] = [newId("backup", at.getTime()), newId("upload", at.getTime())];
  const row = {
    org_id: orgId,
    source_id: sourceId,
    agent_id: agentId,
    object_key: backup.objectKey ?? `${orgId}/${sourceId}/${uploadId}.age`,
    sha256: randomBytes(32),
    size_bytes: backup.sizeBytes ?? 1000,
    created_at: at,
  };
  await db
    .insertInto("uploads")
    .values({ ...row, id: uploadId, expires_at: new Date(at.getTime() + 900_000) })
    .execute();
  await db
    .insertInto("backups")
    .values({
      ...row,
      id,
      upload_id: uploadId,
      cipher: JSON.stringify(backup.cipher ?? { name: "age-v1", recipients: ["age1recipient"] }),
      source_metadata: JSON.stringify({
        engine: "postgresql",
        engine_version: "15.14",
        dump_format: "pg_dump-custom",
        schema_hash: "ab".repeat(32),
        ...backup.metadata,
      }),
      schema_changes: await changesSinceNewest(db, sourceId, backup.metadata ?? {}),
      made_at: backup.madeAt ?? at,
      proven_at: backup.provenAt ?? null,
    })
    .execute();
  return id;
}

export interface RecordedReceipt {
  orgId: string;
  sourceId: string;
  agentId: string;
  backupId: string;
  kind: "backup" | "restore_test";
  result?: "passed" | "failed";
  at: Date;
  /** When the run ended; as it was recorded, unless told. */
  happenedAt?: Date;
  predicate?: Record<string, unknown>;
}

/** The row of a receipt, without its leaf in the log. */
export async function recordReceipt(db: Database, receipt: RecordedReceipt): Promise<string> {
  const id = newId("receipt", receipt.at.getTime());
  const payload = Buffer.from(JSON.stringify({ predicate: receipt.predicate ?? {} })).toString("base64");
  await db
    .insertInto("receipts")
    .values({
      id,
      org_id: receipt.orgId,
      kind: receipt.kind,
      source_id: receipt.sourceId,
      agent_id: receipt.agentId,
      backup_id: receipt.backupId,
      result: receipt.result ?? null,
      envelope_sha256: randomBytes(32),
      payload_sha256: randomBytes(32),
      envelope: Buffer.from(JSON.stringify({ payload })),
      log_index: 0,
      leaf_hash: randomBytes(32),
      created_at: receipt.at,
      happened_at: receipt.happenedAt ?? receipt.at,
    })
    .execute();
  return id;
}
