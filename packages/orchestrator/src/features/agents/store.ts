import type { AgentEncryption, AgentSpool } from "@attestore/contract";
import type { Insertable } from "kysely";
import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import type { AgentsTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/route/pagination.ts";

export interface Agent {
  id: string;
  org_id: string;
  name: string;
  hostname: string;
  platform: string;
  agent_version: string;
  /** 32 raw bytes (Ed25519), or 91 bytes of SubjectPublicKeyInfo (ECDSA P-256). */
  public_key: Buffer;
  key_fingerprint: string;
  status: "active" | "revoked";
  created_at: Date;
  last_seen_at: Date | null;
  revoked_at: Date | null;
  spool: AgentSpool | null;
  encryption: AgentEncryption | null;
  remote_config: boolean;
}

const COLUMNS = [
  "id",
  "org_id",
  "name",
  "hostname",
  "platform",
  "agent_version",
  "public_key",
  "key_fingerprint",
  "status",
  "created_at",
  "last_seen_at",
  "revoked_at",
  "spool",
  "encryption",
  "remote_config",
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

export async function findAgentOf(db: Database, orgId: string, id: string): Promise<Agent | null> {
  const row = await db
    .selectFrom("agents")
    .select(COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row ?? null;
}

/** Newest first, with one more than the page holds. */
export async function listAgentPage(
  db: Database,
  orgId: string,
  filters: { page: Page; from: Date | null; to: Date | null; status: Agent["status"] | null },
): Promise<Agent[]> {
  const { page, from, to, status } = filters;
  let query = db.selectFrom("agents").select(COLUMNS).where("org_id", "=", orgId);
  if (status !== null) query = query.where("status", "=", status);
  if (page.before !== null) query = query.where("id", "<", page.before);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

/** Null if the organisation has no such agent. */
export async function renameAgent(
  tx: DatabaseTransaction,
  orgId: string,
  id: string,
  name: string,
): Promise<Agent | null> {
  const row = await tx
    .updateTable("agents")
    .set({ name })
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function markSeen(tx: DatabaseTransaction, id: string, at: Date): Promise<void> {
  await tx.updateTable("agents").set({ last_seen_at: at }).where("id", "=", id).execute();
}

const RECORD_SEEN: PreparedQuery = {
  name: "agent_record_seen",
  text: `with known as (select last_seen_at from agents where id = $1)
    update agents set agent_version = $2, hostname = $3, platform = $4, last_seen_at = $5, spool = $6, encryption = $7, remote_config = $8
    from known where agents.id = $1
    returning known.last_seen_at`,
};

/** Records an agent's report from a heartbeat, and locks its row. Returns when it was last seen. */
export async function recordSeen(
  tx: DatabaseTransaction,
  id: string,
  seen: {
    agent_version: string;
    hostname: string;
    platform: string;
    last_seen_at: Date;
    /** As JSON. */
    spool: string | null;
    /** As JSON. */
    encryption: string | null;
    remote_config: boolean;
  },
): Promise<Pick<Agent, "last_seen_at"> | undefined> {
  const { agent_version, hostname, platform, last_seen_at, spool, encryption, remote_config } = seen;
  const values = [id, agent_version, hostname, platform, last_seen_at, spool, encryption, remote_config];
  const [known] = await runPrepared<Pick<Agent, "last_seen_at">>(tx, RECORD_SEEN, values);
  return known;
}

/** Null if there is no such agent, or it is revoked already. */
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
