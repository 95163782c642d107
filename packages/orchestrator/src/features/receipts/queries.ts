import { sql } from "kysely";
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { Database } from "../../platform/database/schema.ts";
import { findSigningKey } from "../agents/signing-keys.ts";
import { keyidOf } from "./keyid-of.ts";

export interface ListedReceipt {
  id: string;
  org_id: string;
  kind: "backup" | "restore_test";
  source_id: string;
  agent_id: string;
  backup_id: string;
  result: "passed" | "failed" | null;
  log_index: number;
  leaf_hash: Buffer;
  created_at: Date;
}

export interface ReceiptFilter {
  source_id?: string;
  agent_id?: string;
  backup_id?: string;
  kind?: "backup" | "restore_test";
  result?: "passed" | "failed";
}

export const RECEIPT_COLUMNS = [
  "id",
  "org_id",
  "kind",
  "source_id",
  "agent_id",
  "backup_id",
  "result",
  "log_index",
  "leaf_hash",
  "created_at",
] as const;

const FILTERS = ["source_id", "agent_id", "backup_id", "kind", "result"] as const;

/** Newest first, one more than `limit`, to show whether there are more. */
export async function listReceipts(
  db: Database,
  orgId: string,
  filter: ReceiptFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<ListedReceipt[]> {
  let query = db
    .selectFrom("receipts")
    .select(RECEIPT_COLUMNS)
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  // Only tests have a result. Saying so lets PostgreSQL use the index of the tests.
  if (filter.result !== undefined) query = query.where(sql<boolean>`kind = 'restore_test'`);
  for (const name of FILTERS) {
    const value = filter[name];
    if (value !== undefined) query = query.where(sql<boolean>`${sql.ref(name)} = ${value}`);
  }
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

export interface StoredReceipt extends ListedReceipt {
  /** The request's body, byte for byte. */
  envelope: Buffer;
  /** The key that it is signed with. */
  public_key: Buffer;
}

/** Throws FetchFirst if the envelope is in the archive. */
export async function findReceipt(
  db: Database,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  id: string,
): Promise<StoredReceipt | null> {
  const row = await db
    .selectFrom("receipts")
    .innerJoin("agents", "agents.id", "receipts.agent_id")
    .select(RECEIPT_COLUMNS.map((column) => `receipts.${column}` as const))
    .select([
      "receipts.envelope",
      "receipts.envelope_sha256",
      "receipts.archived_in",
      "receipts.archived_start",
      "receipts.archived_length",
      "agents.public_key",
      "agents.key_fingerprint",
    ])
    .where("receipts.id", "=", id)
    .where("receipts.org_id", "=", orgId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const [found] = envelopes.complete([row]);
  if (found === undefined) throw new Error("a row was given, and none came back");
  const { key_fingerprint, ...receipt } = found;
  const keyid = keyidOf(receipt.envelope);
  if (keyid === key_fingerprint) return receipt;
  const signedWith = await findSigningKey(db, receipt.agent_id, keyid);
  return signedWith === null ? receipt : { ...receipt, public_key: signedWith.public_key };
}

/** The maker's receipt of a backup; null until that agent has submitted it. */
export async function findMakersReceipt(
  db: Database,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  backupId: string,
): Promise<StoredReceipt | null> {
  // Two statements: an engine that spreads receipts over machines joins no other table with them.
  const backup = await db
    .selectFrom("backups")
    .select("agent_id")
    .where("id", "=", backupId)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  if (backup === undefined) return null;
  const row = await db
    .selectFrom("receipts")
    .select("id")
    .where("backup_id", "=", backupId)
    .where("org_id", "=", orgId)
    .where("kind", "=", "backup")
    .where("agent_id", "=", backup.agent_id)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : findReceipt(db, envelopes, orgId, row.id);
}
