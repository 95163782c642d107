import type { HeartbeatRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { recordSeen } from "./store.ts";

export interface Beat {
  /** When the agent was seen before; null if never. */
  before: Date | null;
  /** Whether it says of its host what it said before. */
  isSame: boolean;
}

/** Notes what an agent says of itself and when. */
export async function recordHeartbeat(
  tx: DatabaseTransaction,
  agentId: string,
  { agent_version, hostname, platform, spool, encryption }: HeartbeatRequest,
  now: Date,
): Promise<Beat> {
  const seen = await recordSeen(tx, agentId, {
    agent_version,
    hostname,
    platform,
    last_seen_at: now,
    spool: spool === undefined ? null : JSON.stringify(spool),
    encryption: encryption === undefined ? null : JSON.stringify(encryption),
  });
  if (seen === undefined) throw new Error("the agent of a heartbeat is not there");
  const before = seen.last_seen_at;
  const isSame =
    before !== null &&
    seen.agent_version === agent_version &&
    seen.hostname === hostname &&
    seen.platform === platform;
  return { before, isSame };
}
