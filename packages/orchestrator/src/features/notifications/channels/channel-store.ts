import { sql, type Insertable, type Updateable } from "kysely";
import type {
  Database,
  DatabaseTransaction,
  NotificationChannelsTable,
} from "../../../platform/database/schema.ts";
import type { Page } from "../../../platform/http/route/pagination.ts";

export interface Channel {
  id: string;
  org_id: string;
  kind: "email" | "webhook";
  name: string | null;
  user_id: string | null;
  /** The user's address; null for a webhook, or if the user was removed. */
  email: string | null;
  url: string | null;
  types: string[] | null;
  weekly_evidence: boolean;
  disabled_at: Date | null;
  disabled_reason: "by_user" | "receiver_gone" | "user_removed" | null;
  last_delivered_at: Date | null;
  last_failed_at: Date | null;
  created_at: Date;
}

const COLUMNS = [
  "notification_channels.id",
  "notification_channels.org_id",
  "notification_channels.kind",
  "notification_channels.name",
  "notification_channels.user_id",
  "notification_channels.url",
  "notification_channels.types",
  "notification_channels.weekly_evidence",
  "notification_channels.disabled_at",
  "notification_channels.disabled_reason",
  "notification_channels.last_delivered_at",
  "notification_channels.last_failed_at",
  "notification_channels.created_at",
  "users.email",
] as const;

function channels(db: Database) {
  return db
    .selectFrom("notification_channels")
    .leftJoin("users", (join) =>
      join.onRef("users.id", "=", "notification_channels.user_id").on("users.removed_at", "is", null),
    )
    .select(COLUMNS);
}

/** Null if it was removed. */
export async function findChannel(db: Database, orgId: string, id: string): Promise<Channel | null> {
  const row = await channels(db)
    .where("notification_channels.id", "=", id)
    .where("notification_channels.org_id", "=", orgId)
    .where("notification_channels.removed_at", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

/** Newest first, with one more than the page holds. */
export async function listChannels(
  db: Database,
  orgId: string,
  { page, from, to }: { page: Page; from: Date | null; to: Date | null },
): Promise<Channel[]> {
  let query = channels(db)
    .where("notification_channels.org_id", "=", orgId)
    .where("notification_channels.removed_at", "is", null);
  if (page.before !== null) query = query.where("notification_channels.id", "<", page.before);
  if (from !== null) query = query.where("notification_channels.created_at", ">=", from);
  if (to !== null) query = query.where("notification_channels.created_at", "<", to);
  return query
    .orderBy("notification_channels.id", "desc")
    .limit(page.limit + 1)
    .execute();
}

export async function countChannels(db: Database, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom("notification_channels")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns false and writes nothing if the user already has a channel of this organisation. */
export async function insertChannel(
  tx: DatabaseTransaction,
  channel: Insertable<NotificationChannelsTable>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("notification_channels")
    .values(channel)
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id"]).where("removed_at", "is", null).doNothing(),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function updateChannel(
  tx: DatabaseTransaction,
  id: string,
  change: Updateable<NotificationChannelsTable>,
): Promise<void> {
  if (Object.keys(change).length === 0) return;
  await tx.updateTable("notification_channels").set(change).where("id", "=", id).execute();
}

/** From now on the organisation's log is read for news; earlier entries are not told. */
export async function beginFollowing(tx: DatabaseTransaction, orgId: string): Promise<void> {
  await sql`
    insert into notification_cursors (org_id, log_index) select org_id, tree_size from logs where org_id = ${orgId}
    on conflict (org_id) do nothing`.execute(tx);
}

/** Sends nothing more to the channel, except attempts that are running at this moment. */
export async function cancelPending(tx: DatabaseTransaction, channelId: string): Promise<void> {
  await tx
    .updateTable("notification_deliveries")
    .set({ status: "cancelled", next_attempt_at: null, finished_at: new Date() })
    .where("channel_id", "=", channelId)
    .where("status", "=", "pending")
    .execute();
}
