import type { DeliveryAttempt, DeliveryDetail, DeliveryRecord, NotificationType } from "@attestore/contract";
import type { Attempt, Delivery } from "./delivery-store.ts";

/** A message to a channel, as the API returns it. */
export function deliveryRecord(delivery: Delivery): DeliveryRecord {
  const { id, org_id, channel_id, notification_id, status, attempts } = delivery;
  return {
    id,
    created_at: delivery.created_at.toISOString(),
    org_id,
    channel_id,
    notification_id,
    // Only this feature writes it, from the same list.
    type: delivery.type as NotificationType,
    subject: subjectOf(delivery),
    occurred_at: delivery.occurred_at.toISOString(),
    status,
    attempts,
    next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
    finished_at: delivery.finished_at?.toISOString() ?? null,
  };
}

/** A message about a source also names its agent. */
function subjectOf({ source, agent }: Delivery): DeliveryRecord["subject"] {
  if (source !== null) return { kind: "source", id: source.id, name: source.name ?? source.id };
  if (agent !== null) return { kind: "agent", id: agent.id, name: agent.name ?? agent.id };
  return null;
}

export function deliveryDetail(
  delivery: Delivery & { data: Record<string, unknown> },
  tried: readonly Attempt[],
): DeliveryDetail {
  return {
    ...deliveryRecord(delivery),
    tried: tried.map((attempt) => ({
      ...attempt,
      at: attempt.at.toISOString(),
      outcome: attempt.outcome as DeliveryAttempt["outcome"],
    })),
    data: delivery.data,
  };
}
