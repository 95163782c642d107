import type { DeliveredCommand } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { setAcked, takeForDelivery } from "./store.ts";

const INTERVALS_UNTIL_AGAIN = 3;

/** Commands delivered before this moment and never acknowledged are delivered again. */
export function redeliveryDue(now: Date, interval_s: number): Date {
  return new Date(now.getTime() - INTERVALS_UNTIL_AGAIN * interval_s * 1000);
}

/**
 * Takes an agent's acknowledgements and returns its next commands: the queued ones, and those that
 * were delivered three intervals ago and not acknowledged. A repeated command keeps its id, with
 * `attempt` one higher.
 */
export async function exchangeCommands(
  tx: DatabaseTransaction,
  exchange: { agentId: string; acked: readonly string[]; now: Date; interval_s: number },
): Promise<DeliveredCommand[]> {
  const { agentId, acked, now, interval_s } = exchange;
  if (acked.length > 0) await setAcked(tx, agentId, acked, now);
  return takeForDelivery(tx, agentId, now, redeliveryDue(now, interval_s));
}
