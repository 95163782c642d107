import type { HeartbeatRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { readSeen, updateSeen } from "./store.ts";

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
  const { last_seen_at: before, ...seen } = await readSeen(tx, agentId);
  await updateSeen(tx, agentId, {
    agent_version,
    hostname,
    platform,
    last_seen_at: now,
    spool: spool === undefined ? null : JSON.stringify(spool),
    encryption: encryption === undefined ? null : JSON.stringify(encryption),
  });
  const isSame =
    before !== null &&
    seen.agent_version === agent_version &&
    seen.hostname === hostname &&
    seen.platform === platform;
  return { before, isSame };
}
