import type { HeartbeatRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Call } from "../../platform/http/route.ts";
import { readLastSeen, updateSeen } from "./store.ts";

const TOO_OFTEN_FACTOR = 10;

/** Notes what an agent says of itself and when. One that comes ten times as often as it was asked to is told to the service's log. */
export async function recordHeartbeat(
  tx: DatabaseTransaction,
  call: Pick<Call<"agent", HeartbeatRequest>, "body" | "principal" | "logger">,
  cadence: { now: Date; interval_s: number },
): Promise<void> {
  const { body, principal } = call;
  const { now, interval_s } = cadence;
  const before = await readLastSeen(tx, principal.id);
  const pause_ms = before === null ? Infinity : now.getTime() - before.getTime();
  if (pause_ms < (interval_s * 1000) / TOO_OFTEN_FACTOR)
    call.logger.warn(
      { agent_id: principal.id, pause_ms, interval_s },
      "an agent's heartbeat comes too often",
    );
  const { agent_version, hostname, platform } = body;
  await updateSeen(tx, principal.id, { agent_version, hostname, platform, last_seen_at: now });
}
