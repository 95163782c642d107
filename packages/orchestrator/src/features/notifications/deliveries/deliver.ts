import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import { readInOrg } from "../../../platform/database/org-scope.ts";
import { TroubleLog } from "../../../platform/logging/trouble-log.ts";
import type { AttemptResult } from "./attempt.ts";
import { type Due, takeDue } from "./delivery-queue.ts";
import { type Message, readMessage } from "../messages/message.ts";
import { mailOf } from "../messages/mail-text.ts";
import { findReceiver, type Receiver } from "./receiver.ts";
import { cancel, recordAttempt } from "./record-attempt.ts";
import { sendWebhook } from "./send-webhook.ts";
import type { DeliveringDeps } from "../channels/deps.ts";
import { webhookBody } from "../messages/webhook-body.ts";
import { weeklyMail } from "../weekly/weekly-mail.ts";
import { signatureHeader } from "../channels/webhook-secret.ts";

const LOOK_EVERY_MS = 1000;
const AT_ONCE = 16;
/** An attempt that takes longer is given up. */
const MAIL_WITHIN_MS = 40_000;
const LEASE_S = 90;

/**
 * Delivers what is queued until `signal`; any number of replicas may run it. Resolves when the last
 * running attempt has ended.
 */
export async function deliverNotifications(deps: DeliveringDeps, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  const trouble = new TroubleLog(deps.logger, {
    fails: "the queue of notifications could not be read; trying again",
    works: "the queue of notifications can be read again",
  });
  while (!signal.aborted) {
    let taken = 0;
    try {
      const due = await takeDue(deps.db, { count: AT_ONCE - running.size, lease_s: LEASE_S });
      trouble.worked();
      taken = due.length;
      for (const one of due) {
        const attempt = attemptSafely(deps, one).finally(() => running.delete(attempt));
        running.add(attempt);
      }
    } catch (error) {
      trouble.failed(error);
    }
    const wait = new AbortController();
    const pause = delay(taken > 0 ? 10 : LOOK_EVERY_MS, undefined, {
      signal: AbortSignal.any([signal, wait.signal]),
      ref: false,
    }).catch(() => undefined);
    // If all places are taken, as soon as one is free.
    await (running.size >= AT_ONCE ? Promise.race(running) : Promise.race([pause, ...running]));
    wait.abort();
  }
  await Promise.all(running);
}

/** Tries what is due now, once. Returns how many were tried. */
export async function deliverDueNotifications(deps: DeliveringDeps): Promise<number> {
  const due = await takeDue(deps.db, { count: AT_ONCE, lease_s: LEASE_S });
  await Promise.all(due.map((one) => attempt(deps, one)));
  return due.length;
}

/** If the outcome can't be recorded now, the delivery is tried again when its lease ends. */
async function attemptSafely(deps: DeliveringDeps, due: Due): Promise<void> {
  try {
    await attempt(deps, due);
  } catch (error) {
    deps.logger.warn({ delivery: due.id, reason: errorMessage(error) }, "a delivery could not be recorded");
  }
}

async function attempt(deps: DeliveringDeps, due: Due): Promise<void> {
  const found = await readInOrg(deps.db, due.orgId, async (tx) => {
    const receiver = await findReceiver(tx, due.channelId);
    return receiver === null ? null : { receiver, message: await readMessage(tx, due.messageId) };
  });
  if (found === null) return cancel(deps.db, due);
  const began = performance.now();
  const at = new Date();
  const result = await send(deps, { ...due, ...found });
  const duration_ms = Math.round(performance.now() - began);
  const became = await recordAttempt(deps.db, due, { at, duration_ms }, result);
  if (became === "delivered") return;
  deps.logger.warn(
    { delivery: due.id, channel: due.channelId, attempt: due.attempt, outcome: result.outcome },
    became === "again"
      ? "a notification could not be delivered; trying again"
      : "a notification is dropped after its last attempt",
  );
}

/** With the message and its destination. */
interface Sendable extends Due {
  message: Message;
  receiver: Receiver;
}

async function send(deps: DeliveringDeps, due: Sendable): Promise<AttemptResult> {
  const { receiver } = due;
  try {
    return receiver.kind === "webhook"
      ? await post(deps, due, receiver)
      : await mail(deps, due, receiver.email);
  } catch (error) {
    deps.logger.error({ err: error, delivery: due.id }, "a notification could not be composed");
    return { outcome: "internal", message: "The service could not compose this message. Its log says why." };
  }
}

async function post(
  { sealer, webhooks }: DeliveringDeps,
  { channelId, message }: Sendable,
  { url, sealedSecrets }: Extract<Receiver, { kind: "webhook" }>,
): Promise<AttemptResult> {
  const { id } = message;
  const timestamp = Math.floor(Date.now() / 1000);
  const body = webhookBody(message);
  const signature = await signatureHeader(sealer, channelId, sealedSecrets, { id, timestamp, body });
  return sendWebhook({ url, id, timestamp, signature, body }, webhooks);
}

async function mail(deps: DeliveringDeps, { message, orgId }: Sendable, to: string): Promise<AttemptResult> {
  const composed =
    message.type === "evidence.weekly"
      ? await weeklyMail(deps, orgId, message)
      : mailOf(message, deps.publicUrl);
  const late = new AbortController();
  try {
    await Promise.race([
      deps.transport.send({ to, ...composed }, message.id),
      delay(MAIL_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
        throw new Error("it took too long");
      }),
    ]);
    return { outcome: "delivered", message: "The mail server accepted it." };
  } catch (error) {
    // The server's words may say more than the organisation's people should know; the service's log
    // has them.
    deps.logger.warn(
      { message: message.id, reason: errorMessage(error) },
      "the mail server did not accept a notification",
    );
    return { outcome: "mail_refused", message: "The mail server did not accept it." };
  } finally {
    late.abort();
  }
}
