import type { HeartbeatRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { readLastSeen, updateSeen } from "./store.ts";

/** Notes what an agent says of itself and when. Gives when it was seen before; null if never. */
export async function recordHeartbeat(
  tx: DatabaseTransaction,
  agentId: string,
  { agent_version, hostname, platform, spool, encryption }: HeartbeatRequest,
  now: Date,
): Promise<Date | null> {
  const before = await readLastSeen(tx, agentId);
  await updateSeen(tx, agentId, {
    agent_version,
    hostname,
    platform,
    last_seen_at: now,
    spool: spool === undefined ? null : JSON.stringify(spool),
    encryption: encryption === undefined ? null : JSON.stringify(encryption),
  });
  return before;
}
