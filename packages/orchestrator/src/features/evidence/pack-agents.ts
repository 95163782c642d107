import { parsePublicKeyWire, type EarlierKey, type PackAgent, sshFingerprint } from "@attestore/proof";
import type { Database } from "../../platform/database/schema.ts";
import { listRetiredKeys, type RetiredKey } from "../agents/signing-keys.ts";

const KINDS = ["agent_attached", "agent_key_rotated", "agent_revoked"] as const;

export interface AgentEvent {
  id: string;
  kind: string;
  agentId: string;
  /** For a rotation: the key that was replaced. */
  replacedFingerprint: string | null;
  logIndex: number;
  createdAt: Date;
}

/** The log's events about agents that were attached or revoked, and about their signing keys. */
export async function readAgentEvents(db: Database, orgId: string, size: number): Promise<AgentEvent[]> {
  const found = await db
    .selectFrom("events")
    .select(["id", "kind", "body", "log_index", "created_at"])
    .where("org_id", "=", orgId)
    .where("kind", "in", KINDS)
    .where("log_index", "<", size)
    .orderBy("id")
    .execute();
  return found.map(({ id, kind, body, log_index, created_at }) => {
    const { detail } = JSON.parse(body.toString("utf8")) as {
      detail: { agent_id?: string; previous_key_fingerprint?: string };
    };
    return {
      id,
      kind,
      agentId: detail.agent_id ?? "",
      replacedFingerprint: detail.previous_key_fingerprint ?? null,
      logIndex: log_index,
      createdAt: created_at,
    };
  });
}

/** The agents with all their keys. `events` are those that the pack's checkpoint covers. */
export async function listPackAgents(
  db: Database,
  orgId: string,
  events: readonly AgentEvent[],
): Promise<PackAgent[]> {
  const found = await db
    .selectFrom("agents")
    .select(["id", "name", "hostname", "public_key", "created_at", "revoked_at"])
    .where("org_id", "=", orgId)
    .orderBy("id")
    .execute();
  const retired = Map.groupBy(
    await listRetiredKeys(
      db,
      found.map(({ id }) => id),
    ),
    ({ agent_id }) => agent_id,
  );
  const eventIds = new Map(
    events.map(({ id, kind, agentId, replacedFingerprint }) => [
      `${kind} ${agentId} ${replacedFingerprint ?? ""}`,
      id,
    ]),
  );
  return found.map(({ id, name, hostname, public_key, created_at, revoked_at }) => {
    const keys = retired.get(id) ?? [];
    const earlier = earlierKeys(keys, (fingerprint) =>
      eventIds.get(`agent_key_rotated ${id} ${fingerprint}`),
    );
    // A rotation that the checkpoint does not cover yet does not belong in this pack.
    const wire = (keys[earlier.length]?.public_key ?? public_key).toString("base64");
    return {
      id,
      name,
      hostname,
      public_key: wire,
      key_fingerprint: sshFingerprint(parsePublicKeyWire(wire)),
      valid_from: created_at.toISOString(),
      valid_until: revoked_at?.toISOString() ?? null,
      attached_event_id: eventIds.get(`agent_attached ${id} `) ?? null,
      revoked_event_id: eventIds.get(`agent_revoked ${id} `) ?? null,
      earlier_keys: earlier,
    };
  });
}

function earlierKeys(
  retired: readonly RetiredKey[],
  eventOf: (fingerprint: string) => string | undefined,
): EarlierKey[] {
  const earlier: EarlierKey[] = [];
  for (const { public_key, key_fingerprint, valid_from, replaced_at } of retired) {
    const rotated_event_id = eventOf(key_fingerprint);
    if (rotated_event_id === undefined) break;
    earlier.push({
      public_key: public_key.toString("base64"),
      key_fingerprint,
      valid_from: valid_from.toISOString(),
      valid_until: replaced_at.toISOString(),
      rotated_event_id,
    });
  }
  return earlier;
}

/** Every key of these agents, in wire form, by its fingerprint. */
export function keysByFingerprint(agents: readonly PackAgent[]): Map<string, string> {
  return new Map(
    agents.flatMap((agent) =>
      [agent, ...agent.earlier_keys].map(({ key_fingerprint, public_key }) => [key_fingerprint, public_key]),
    ),
  );
}
