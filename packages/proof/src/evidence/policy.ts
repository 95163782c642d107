import {
  anyObject,
  listOf,
  members,
  nonEmptyText,
  nullOr,
  oneOf,
  requireKnownShape,
  wholeNumber,
} from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { base64Text, timestamp, typeId } from "../shapes.ts";

/**
 * policy.json: the settings in force at the export, by the service's word. Logged changes are in
 * events/.
 */
export interface PackPolicy {
  v: 1;
  org: { id: string; name: string };
  sources: SourcePolicy[];
}

export interface SourcePolicy {
  id: string;
  slug: string;
  name: string;
  engine: string;
  agent_id: string;
  test_agent_id: string | null;
  created_at: string;
  removed_at: string | null;
  schedule: { backup_cron: string | null; restore_test_cron: string | null; timezone: string } | null;
  retention: Record<string, unknown> | null;
  objectives: { rpo_s?: number; rto_s?: number } | null;
}

const cron = nullOr(nonEmptyText);

const POLICY = members({
  v: oneOf(1),
  org: members({ id: typeId("org"), name: nonEmptyText }),
  sources: listOf(
    members({
      id: typeId("src"),
      slug: nonEmptyText,
      name: nonEmptyText,
      engine: nonEmptyText,
      agent_id: typeId("agent"),
      test_agent_id: nullOr(typeId("agent")),
      created_at: timestamp,
      removed_at: nullOr(timestamp),
      schedule: nullOr(members({ backup_cron: cron, restore_test_cron: cron, timezone: nonEmptyText })),
      retention: nullOr(anyObject),
      objectives: nullOr(members({}, { rpo_s: wholeNumber, rto_s: wholeNumber })),
    }),
    { max: 100_000 },
  ),
});

/** Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`. */
export function parsePolicy(source: Uint8Array): PackPolicy {
  const value = parseJson(source);
  requireKnownShape(value, POLICY, "malformed_evidence", "the policy");
  return value as unknown as PackPolicy;
}

/**
 * keys/agents.json: whose signatures count, and when. The log entries that show this are in
 * events/.
 */
export interface PackAgents {
  v: 1;
  agents: PackAgent[];
}

export interface PackAgent {
  id: string;
  name: string;
  hostname: string;
  /** The current key in wire form. */
  public_key: string;
  key_fingerprint: string;
  /** When the agent was attached. */
  valid_from: string;
  /** When the agent was revoked. */
  valid_until: string | null;
  /**
   * The event `agent_attached`; null if the agent was attached before the log recorded that event.
   */
  attached_event_id: string | null;
  revoked_event_id: string | null;
  /** Earlier signing keys, the oldest first. */
  earlier_keys: EarlierKey[];
}

/** A key that was replaced. */
export interface EarlierKey {
  public_key: string;
  key_fingerprint: string;
  valid_from: string;
  /** By the agent's clock: runs signed with this key ended no later than this. */
  valid_until: string;
  /** The event `agent_key_rotated`, in which this key vouches for the next one. */
  rotated_event_id: string;
}

const AGENTS = members({
  v: oneOf(1),
  agents: listOf(
    members({
      id: typeId("agent"),
      name: nonEmptyText,
      hostname: nonEmptyText,
      public_key: base64Text,
      key_fingerprint: nonEmptyText,
      valid_from: timestamp,
      valid_until: nullOr(timestamp),
      attached_event_id: nullOr(typeId("evt")),
      revoked_event_id: nullOr(typeId("evt")),
      earlier_keys: listOf(
        members({
          public_key: base64Text,
          key_fingerprint: nonEmptyText,
          valid_from: timestamp,
          valid_until: timestamp,
          rotated_event_id: typeId("evt"),
        }),
        { max: 10_000 },
      ),
    }),
    { max: 100_000 },
  ),
});

/** Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`. */
export function parseAgents(source: Uint8Array): PackAgents {
  const value = parseJson(source);
  requireKnownShape(value, AGENTS, "malformed_evidence", "the agents' keys");
  return value as unknown as PackAgents;
}
