import type { AgentRecord } from "@attestore/contract";
import type { Agent } from "./store.ts";

/** An agent as the API returns it. */
export function serializeAgent(agent: Agent): AgentRecord {
  return {
    id: agent.id,
    created_at: agent.created_at.toISOString(),
    org_id: agent.org_id,
    name: agent.name,
    hostname: agent.hostname,
    platform: agent.platform,
    agent_version: agent.agent_version,
    public_key: agent.public_key.toString("base64"),
    key_fingerprint: agent.key_fingerprint,
    status: agent.status,
    last_seen_at: agent.last_seen_at?.toISOString() ?? null,
    revoked_at: agent.revoked_at?.toISOString() ?? null,
    spool: agent.spool,
    encryption: agent.encryption,
    remote_config: agent.remote_config,
  };
}
