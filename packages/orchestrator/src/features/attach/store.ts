import type { Insertable } from "kysely";
import type { BootstrapsTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";

export interface Bootstrap {
  id: string;
  name: string;
  hostname: string;
  platform: string;
  agent_version: string;
  public_key: Buffer;
  address: string;
  status: "pending" | "approved" | "denied";
  created_at: Date;
  expires_at: Date;
  org_id: string | null;
  agent_id: string | null;
  decided_at: Date | null;
  decided_by: string | null;
  sealed_token: Buffer | null;
}

const COLUMNS = [
  "id",
  "name",
  "hostname",
  "platform",
  "agent_version",
  "public_key",
  "address",
  "status",
  "created_at",
  "expires_at",
  "org_id",
  "agent_id",
  "decided_at",
  "decided_by",
  "sealed_token",
] as const;

export async function insertBootstrap(
  tx: DatabaseTransaction,
  row: Insertable<BootstrapsTable>,
): Promise<void> {
  await tx.insertInto("bootstraps").values(row).execute();
}

export async function findByPollToken(db: Database, pollTokenSha256: Buffer): Promise<Bootstrap | null> {
  const row = await db
    .selectFrom("bootstraps")
    .select(COLUMNS)
    .where("poll_token_sha256", "=", pollTokenSha256)
    .executeTakeFirst();
  return row ?? null;
}

/** Locks the row until the transaction ends, so of two decisions one comes second. */
export async function lockByCode(tx: DatabaseTransaction, codeSha256: Buffer): Promise<Bootstrap | null> {
  const row = await tx
    .selectFrom("bootstraps")
    .select(COLUMNS)
    .where("code_sha256", "=", codeSha256)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function findByCode(db: Database, codeSha256: Buffer): Promise<Bootstrap | null> {
  const row = await db
    .selectFrom("bootstraps")
    .select(COLUMNS)
    .where("code_sha256", "=", codeSha256)
    .executeTakeFirst();
  return row ?? null;
}

export async function listPending(db: Database, now: Date): Promise<Bootstrap[]> {
  return db
    .selectFrom("bootstraps")
    .select(COLUMNS)
    .where("status", "=", "pending")
    .where("expires_at", ">", now)
    .orderBy("id")
    .execute();
}

export async function setDecision(
  tx: DatabaseTransaction,
  id: string,
  decision: {
    status: "approved" | "denied";
    decided_at: Date;
    decided_by: string;
    org_id: string;
    agent_id: string | null;
    sealed_token: Buffer | null;
  },
): Promise<Bootstrap> {
  return tx
    .updateTable("bootstraps")
    .set(decision)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** From then on a poll no longer hands out the agent's token. */
export async function forgetToken(tx: DatabaseTransaction, agentId: string): Promise<void> {
  await tx
    .updateTable("bootstraps")
    .set({ sealed_token: null })
    .where("agent_id", "=", agentId)
    .where("sealed_token", "is not", null)
    .execute();
}
