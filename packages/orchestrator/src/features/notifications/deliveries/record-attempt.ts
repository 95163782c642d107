import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../../platform/database/schema.ts";
import { runInOrg } from "../../../platform/database/org-scope.ts";
import type { AttemptResult } from "./attempt.ts";
import { cancelPending, updateChannel } from "../channels/channel-store.ts";
import type { Due } from "./delivery-queue.ts";
import { pauseAfter } from "./retry-schedule.ts";

/**
 * Records the outcome of an attempt, and when the next one is. After a crash before this point, the
 * message is sent again under the same id.
 */
export async function recordAttempt(
  db: Database,
  due: Due,
  { at, duration_ms }: { at: Date; duration_ms: number },
  result: AttemptResult,
): Promise<"delivered" | "again" | "given_up"> {
  const delivered = result.outcome === "delivered";
  const pause_s = delivered || result.isGone === true ? null : pauseAfter(due.attemptOfRound);
  await runInOrg(db, due.orgId, async (tx) => {
    await insertAttempt(tx, due, { at, duration_ms }, result);
    await updateChannel(tx, due.channelId, delivered ? { last_delivered_at: at } : { last_failed_at: at });
    if (delivered) await finish(tx, due, "delivered");
    else if (pause_s === null) await finish(tx, due, "failed");
    else await postpone(tx, due, pause_s);
    if (result.isGone === true) await switchOff(tx, due.channelId, at);
  });
  if (delivered) return "delivered";
  return pause_s === null ? "given_up" : "again";
}

async function insertAttempt(
  tx: DatabaseTransaction,
  { id, orgId, attempt }: Due,
  timing: { at: Date; duration_ms: number },
  { outcome, httpStatus, message }: AttemptResult,
): Promise<void> {
  await tx
    .insertInto("notification_attempts")
    .values({
      delivery_id: id,
      attempt,
      org_id: orgId,
      ...timing,
      outcome,
      http_status: httpStatus ?? null,
      message,
    })
    // If the lease ended during the attempt, somebody else's attempt has another number.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * A message that has arrived counts as delivered, even if somebody cancelled it or took it in the
 * meantime.
 */
async function finish(
  tx: DatabaseTransaction,
  { id, attempt }: Due,
  status: "delivered" | "failed",
): Promise<void> {
  await tx
    .updateTable("notification_deliveries")
    .set({ status, next_attempt_at: null, leased_until: null, finished_at: new Date() })
    .where("id", "=", id)
    .where((delivery) =>
      status === "delivered"
        ? delivery.lit(true)
        : delivery.and([delivery("status", "=", "pending"), delivery("attempts", "=", attempt)]),
    )
    .execute();
}

async function postpone(tx: DatabaseTransaction, { id, attempt }: Due, pause_s: number): Promise<void> {
  await tx
    .updateTable("notification_deliveries")
    .set({ next_attempt_at: sql<Date>`now() + make_interval(secs => ${pause_s}::int)`, leased_until: null })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .where("attempts", "=", attempt)
    .execute();
}

async function switchOff(tx: DatabaseTransaction, channelId: string, at: Date): Promise<void> {
  await tx
    .updateTable("notification_channels")
    .set({ disabled_at: at, disabled_reason: "receiver_gone" })
    .where("id", "=", channelId)
    .where("disabled_at", "is", null)
    .execute();
  await cancelPending(tx, channelId);
}

/** Of a channel that was removed or switched off. */
export async function cancel(db: Database, { id, orgId }: Due): Promise<void> {
  await runInOrg(db, orgId, (tx) =>
    tx
      .updateTable("notification_deliveries")
      .set({ status: "cancelled", next_attempt_at: null, leased_until: null, finished_at: new Date() })
      .where("id", "=", id)
      .where("status", "=", "pending")
      .execute(),
  );
}
