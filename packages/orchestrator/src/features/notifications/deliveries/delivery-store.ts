import type { DeliveryStatus } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../../platform/database/schema.ts";

/** As in the message; only the id if the record was about to be removed. */
interface Named {
  id: string;
  name?: string;
}

export interface Delivery {
  id: string;
  org_id: string;
  channel_id: string;
  notification_id: string;
  type: string;
  /** From the message's data, if it is about one. */
  source: Named | null;
  agent: Named | null;
  occurred_at: Date;
  status: DeliveryStatus;
  attempts: number;
  next_attempt_at: Date | null;
  finished_at: Date | null;
  created_at: Date;
}

export interface DeliveryFilter {
  channel_id?: string;
  status?: DeliveryStatus;
}

const COLUMNS = [
  "notification_deliveries.id",
  "notification_deliveries.org_id",
  "notification_deliveries.channel_id",
  "notification_deliveries.notification_id",
  "notification_deliveries.status",
  "notification_deliveries.attempts",
  "notification_deliveries.next_attempt_at",
  "notification_deliveries.finished_at",
  "notification_deliveries.created_at",
  "notifications.type",
  "notifications.occurred_at",
] as const;

function deliveries(db: Database) {
  return db
    .selectFrom("notification_deliveries")
    .innerJoin("notifications", "notifications.id", "notification_deliveries.notification_id")
    .select(COLUMNS)
    .select([
      sql<Named | null>`notifications.data -> 'source'`.as("source"),
      sql<Named | null>`notifications.data -> 'agent'`.as("agent"),
    ]);
}

/** Newest first, one more than `limit`. */
export async function listDeliveries(
  db: Database,
  orgId: string,
  filter: DeliveryFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<Delivery[]> {
  let query = deliveries(db)
    .where("notification_deliveries.org_id", "=", orgId)
    .where("notification_deliveries.id", ">=", ids.from)
    .where("notification_deliveries.id", "<", ids.before);
  if (filter.channel_id !== undefined)
    query = query.where("notification_deliveries.channel_id", "=", filter.channel_id);
  if (filter.status !== undefined) query = query.where("notification_deliveries.status", "=", filter.status);
  return query
    .orderBy("notification_deliveries.id", "desc")
    .limit(limit + 1)
    .execute();
}

export async function findDelivery(
  db: Database,
  orgId: string,
  id: string,
): Promise<(Delivery & { data: Record<string, unknown> }) | null> {
  const row = await deliveries(db)
    .select("notifications.data")
    .where("notification_deliveries.id", "=", id)
    .where("notification_deliveries.org_id", "=", orgId)
    .executeTakeFirst();
  return row ?? null;
}

export interface Attempt {
  attempt: number;
  at: Date;
  duration_ms: number;
  outcome: string;
  http_status: number | null;
  message: string;
}

export async function listAttempts(db: Database, deliveryId: string): Promise<Attempt[]> {
  return db
    .selectFrom("notification_attempts")
    .select(["attempt", "at", "duration_ms", "outcome", "http_status", "message"])
    .where("delivery_id", "=", deliveryId)
    .orderBy("attempt")
    .execute();
}

/** Starts its attempts again; false if one is running or scheduled already. */
export async function requeue(tx: DatabaseTransaction, id: string): Promise<boolean> {
  const row = await tx
    .updateTable("notification_deliveries")
    .set((delivery) => ({
      status: "pending" as const,
      next_attempt_at: new Date(),
      finished_at: null,
      attempts_before: delivery.ref("attempts"),
    }))
    .where("id", "=", id)
    .where("status", "<>", "pending")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
