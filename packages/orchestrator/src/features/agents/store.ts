import type { Insertable } from "kysely";
import type { AgentsTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";

export interface Agent {
  id: string;
  org_id: string;
  name: string;
  hostname: string;
  platform: string;
  agent_version: string;
  key_fingerprint: string;
  status: "active" | "revoked";
  created_at: Date;
  last_seen_at: Date | null;
  revoked_at: Date | null;
}

const COLUMNS = [
  "id",
  "org_id",
  "name",
  "hostname",
  "platform",
  "agent_version",
  "key_fingerprint",
  "status",
  "created_at",
  "last_seen_at",
  "revoked_at",
] as const;

export async function insertAgent(tx: DatabaseTransaction, agent: Insertable<AgentsTable>): Promise<void> {
  await tx.insertInto("agents").values(agent).execute();
}

export async function findAgent(db: Database, id: string): Promise<Agent | null> {
  const row = await db.selectFrom("agents").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row ?? null;
}

export async function listAgents(db: Database, orgId: string): Promise<Agent[]> {
  return db.selectFrom("agents").select(COLUMNS).where("org_id", "=", orgId).orderBy("id").execute();
}

export async function markSeen(tx: DatabaseTransaction, id: string, at: Date): Promise<void> {
  await tx.updateTable("agents").set({ last_seen_at: at }).where("id", "=", id).execute();
}

/** What it says of itself in a heartbeat. */
export async function updateSeen(
  tx: DatabaseTransaction,
  id: string,
  seen: { agent_version: string; hostname: string; platform: string; last_seen_at: Date },
): Promise<void> {
  await tx.updateTable("agents").set(seen).where("id", "=", id).execute();
}

export async function readLastSeen(tx: DatabaseTransaction, id: string): Promise<Date | null> {
  const row = await tx.selectFrom("agents").select("last_seen_at").where("id", "=", id).executeTakeFirst();
  return row?.last_seen_at ?? null;
}

/** Null where it was revoked before, or is none. */
export async function setRevoked(tx: DatabaseTransaction, id: string, at: Date): Promise<Agent | null> {
  const row = await tx
    .updateTable("agents")
    .set({ status: "revoked", revoked_at: at })
    .where("id", "=", id)
    .where("status", "=", "active")
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}
