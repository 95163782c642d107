import type { AgentKeyRecord, RotateAgentKeyRequest } from "@attestore/contract";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";

/** A key that an agent signs with now, or did before. */
export interface SigningKeyRow {
  public_key: Buffer;
  key_fingerprint: string;
  /**
   * When another key replaced it, by the agent's clock and by the service's; null for the current
   * key.
   */
  replacement: { replaced_at: Date; retired_at: Date } | null;
}

export interface RetiredKey {
  org_id: string;
  agent_id: string;
  key_fingerprint: string;
  public_key: Buffer;
  valid_from: Date;
  replaced_at: Date;
  retired_at: Date;
  rotation: RotateAgentKeyRequest;
}

const RETIRED_COLUMNS = [
  "org_id",
  "agent_id",
  "key_fingerprint",
  "public_key",
  "valid_from",
  "replaced_at",
  "retired_at",
  "rotation",
] as const;

/**
 * One of the agent's keys by its fingerprint, as the database has it now; null if the agent never
 * had it.
 */
export async function findSigningKey(
  db: Database,
  agentId: string,
  fingerprint: string,
): Promise<SigningKeyRow | null> {
  const current = await db
    .selectFrom("agents")
    .select(["public_key", "key_fingerprint"])
    .where("id", "=", agentId)
    .where("key_fingerprint", "=", fingerprint)
    .executeTakeFirst();
  if (current !== undefined) return { ...current, replacement: null };
  const retired = await db
    .selectFrom("agent_retired_keys")
    .select(["public_key", "key_fingerprint", "replaced_at", "retired_at"])
    .where("agent_id", "=", agentId)
    .where("key_fingerprint", "=", fingerprint)
    .executeTakeFirst();
  if (retired === undefined) return null;
  const { public_key, key_fingerprint, ...replacement } = retired;
  return { public_key, key_fingerprint, replacement };
}

/** The earlier keys of these agents, oldest first. */
export async function listRetiredKeys(db: Database, agentIds: readonly string[]): Promise<RetiredKey[]> {
  if (agentIds.length === 0) return [];
  return db
    .selectFrom("agent_retired_keys")
    .select(RETIRED_COLUMNS)
    .where("agent_id", "in", [...agentIds])
    .orderBy("agent_id")
    .orderBy("replaced_at")
    .orderBy("retired_at")
    .execute();
}

/**
 * Replaces the agent's key and keeps the old one. Cosignatures that the old key made as a witness
 * no longer count.
 */
export async function replaceSigningKey(
  tx: DatabaseTransaction,
  retired: RetiredKey,
  next: { public_key: Buffer; key_fingerprint: string },
): Promise<void> {
  const { rotation, ...row } = retired;
  await tx
    .insertInto("agent_retired_keys")
    .values({ ...row, rotation: JSON.stringify(rotation) })
    .execute();
  await tx.updateTable("agents").set(next).where("id", "=", retired.agent_id).execute();
  await tx
    .updateTable("agent_witnesses")
    .set({ cosignature: null })
    .where("agent_id", "=", retired.agent_id)
    .execute();
}

/** All keys of an agent as the API returns them, the current one first. */
export function serializeKeys(
  agent: { id: string; public_key: Buffer; key_fingerprint: string; created_at: Date },
  retired: readonly RetiredKey[],
): AgentKeyRecord[] {
  const validFrom = retired.at(-1)?.replaced_at ?? agent.created_at;
  const inUse: AgentKeyRecord = {
    agent_id: agent.id,
    public_key: agent.public_key.toString("base64"),
    key_fingerprint: agent.key_fingerprint,
    valid_from: validFrom.toISOString(),
    valid_until: null,
    rotation: null,
  };
  const before = retired.map((key): AgentKeyRecord => ({
    agent_id: key.agent_id,
    public_key: key.public_key.toString("base64"),
    key_fingerprint: key.key_fingerprint,
    valid_from: key.valid_from.toISOString(),
    valid_until: key.replaced_at.toISOString(),
    rotation: key.rotation,
  }));
  return [inUse, ...before.toReversed()];
}
