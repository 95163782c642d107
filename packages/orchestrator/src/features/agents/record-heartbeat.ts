import type { HeartbeatRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { recordSeen } from "./store.ts";

/**
 * Records what an agent reports about itself. Returns when the agent was last seen; null if never.
 */
export async function recordHeartbeat(
  tx: DatabaseTransaction,
  agentId: string,
  { agent_version, hostname, platform, spool, encryption, remote_config }: HeartbeatRequest,
  now: Date,
): Promise<Date | null> {
  const seen = await recordSeen(tx, agentId, {
    agent_version,
    hostname,
    platform,
    last_seen_at: now,
    spool: spool === undefined ? null : JSON.stringify(spool),
    encryption: encryption === undefined ? null : JSON.stringify(encryption),
    remote_config: remote_config === true,
  });
  if (seen === undefined) throw new Error("the agent of a heartbeat does not exist");
  return seen.last_seen_at;
}
