import { newId, type NotificationType } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

export interface NewNotification {
  orgId: string;
  /** Identifies the subject of the message: a second message with the same key is not written. */
  key: string;
  type: NotificationType;
  occurredAt: Date;
  /** The `data` of the webhook's body. The mail is written from it too. */
  data: Record<string, unknown>;
}

/** The channels to notify. */
export type Audience = "subscribed" | "weekly_evidence" | { channelId: string };

/**
 * Writes a message, and a delivery for each channel that wants it, in the same transaction as the
 * event it reports: both exist if, and only if, that transaction commits.
 * @returns the deliveries' ids; none if no channel wants it, or if it was reported before
 */
export async function queueNotification(
  tx: DatabaseTransaction,
  notification: NewNotification,
  audience: Audience = "subscribed",
): Promise<string[]> {
  const { orgId, key, type, occurredAt, data } = notification;
  const channels = await listeners(tx, orgId, type, audience);
  if (channels.length === 0) return [];
  const now = new Date();
  const id = newId("notification", now.getTime());
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("notifications")
    .values({
      id,
      org_id: orgId,
      key,
      type,
      occurred_at: occurredAt,
      data: storable(data),
      created_at: sql<Date>`clock_timestamp()`,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "key"]).doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return [];
  const rows = channels.map((channelId) => ({
    id: newId("delivery", now.getTime()),
    org_id: orgId,
    notification_id: id,
    channel_id: channelId,
    // Several in one transaction each get a slightly later time, so they are delivered in this
    // order.
    next_attempt_at: sql<Date>`clock_timestamp()`,
    created_at: now,
  }));
  await tx.insertInto("notification_deliveries").values(rows).execute();
  return rows.map((row) => row.id);
}

/**
 * JSON that PostgreSQL can store: text from hosts may contain NUL or, where it was cut, half of a
 * surrogate pair. A message that can't be written would block all that follow it.
 */
function storable(data: Record<string, unknown>): string {
  return JSON.stringify(data, (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value,
  );
}

async function listeners(
  tx: DatabaseTransaction,
  orgId: string,
  type: NotificationType,
  audience: Audience,
): Promise<string[]> {
  let query = tx
    .selectFrom("notification_channels")
    .select("id")
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null);
  if (typeof audience === "object") query = query.where("id", "=", audience.channelId);
  else query = query.where("disabled_at", "is", null);
  if (audience === "weekly_evidence") query = query.where("weekly_evidence", "=", true);
  if (audience === "subscribed") query = query.where(sql<boolean>`(types is null or ${type} = any(types))`);
  const rows = await query.orderBy("id").execute();
  return rows.map(({ id }) => id);
}

/** Whether any channel asked for it: check this before doing work that only a message needs. */
export async function isAskedFor(
  tx: DatabaseTransaction,
  orgId: string,
  type: NotificationType,
): Promise<boolean> {
  return (await listeners(tx, orgId, type, "subscribed")).length > 0;
}
