import { waitForLock } from "../../state/lock.ts";
import type { Layout } from "../../state/layout.ts";
import { readJson } from "../../state/read-json.ts";
import { listReceipts } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import type { Attachment } from "../../service/attachment.ts";
import { LogAlarmError } from "../../state/log-alarm.ts";
import { isUnauthenticated, ServiceError } from "../../transport/service-error.ts";
import { announceRotation } from "./announce-rotation.ts";
import { type EventFile, listEvents, readWaitingEvent } from "../../receipts/spooled-event.ts";
import { submitEvent } from "./submit-event.ts";
import { NOT_LOOKED_AT, submitReceipt, type Submitted, type SubmitOptions } from "./submit-receipt.ts";
import type { SubmitReport } from "../backup-backend.ts";

/**
 * Submits everything that waits, once, what was made first first: receipts in the order of their
 * chain, and events between them by when they occurred, so that a failure is in the log before the
 * receipt of what made it good. Two processes do not submit at the same time. Does not throw for
 * what the service or the network does; rejects with the signal's reason.
 */
export async function submitWaiting(attachment: Attachment, options: SubmitOptions): Promise<SubmitReport> {
  const { layout } = attachment;
  using _ = await waitForLock(layout, "spool", "submit", { signal: options.signal });
  const count = { accepted: 0, refused: 0, unproven: 0 };
  let stoppedBy: ServiceError | LogAlarmError | null = await announced(attachment, options);
  let isAway = stoppedBy !== null && !saysSomething(stoppedBy);

  /** Whether it got its answer. */
  const attempt = async (
    submit: (options: SubmitOptions) => Promise<Pick<Submitted, "outcome">>,
  ): Promise<boolean> => {
    try {
      // After a first failure the others have one try each: it may have been the one entry's own.
      count[(await submit({ ...options, once: options.once || stoppedBy !== null })).outcome]++;
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError || error instanceof LogAlarmError)) throw error;
      if (stoppedBy === null || error instanceof LogAlarmError) stoppedBy = error;
      isAway = !saysSomething(error);
      return false;
    }
  };

  const tried = new Set<string>();
  const submitEvents = async (events: readonly EventFile[]): Promise<void> => {
    for (const event of events) {
      if (isAway || tried.has(event.name)) continue;
      tried.add(event.name);
      await attempt((how) => submitEvent(attachment, event, how));
    }
  };

  // Receipts first: what failed before one of them was signed is in the spool by the time that the
  // events are listed.
  const receipts = await listReceipts(layout, "waiting");
  const events = await eventsByTime(layout);
  let chainGoesOn = stoppedBy === null;
  for (const receipt of receipts) {
    // The next one's place in the chain is behind this one. It is read when its turn comes: damage
    // to it concerns none before it.
    if (!chainGoesOn || isAway) break;
    const { signed_at } = (await readJson(receipt.path)) as WaitingReceipt;
    await submitEvents(takeUntil(events, Date.parse(signed_at)));
    if (!isAway) chainGoesOn = await attempt((how) => submitReceipt(attachment, receipt, how));
  }
  // Those that came after the last receipt, those that submitting it has made among them.
  await submitEvents((await eventsByTime(layout)).map(({ event }) => event));
  const waiting = (await listReceipts(layout, "waiting")).length;
  return { ...count, waiting: waiting + (await listEvents(layout.eventsWaiting)).length, stoppedBy };
}

/** Whether there was somebody to answer, so that another entry may fare better. */
function saysSomething(error: ServiceError | LogAlarmError): boolean {
  return error instanceof LogAlarmError || !(NOT_LOOKED_AT.has(error.status) || isUnauthenticated(error));
}

interface TimedEvent {
  readonly event: EventFile;
  readonly at: number;
}

/** The damaged ones last, so that they keep no other waiting. */
async function eventsByTime(layout: Layout): Promise<TimedEvent[]> {
  const events: TimedEvent[] = [];
  for (const event of await listEvents(layout.eventsWaiting))
    events.push({ event, at: await occurredAt(event) });
  return events.toSorted((a, b) => a.at - b.at);
}

async function occurredAt(event: EventFile): Promise<number> {
  try {
    return Date.parse((await readWaitingEvent(event)).event.occurred_at);
  } catch (error) {
    if (error instanceof SyntaxError) return Infinity;
    throw error;
  }
}

/** Takes off the list what occurred by then. */
function takeUntil(events: TimedEvent[], at: number): EventFile[] {
  const first = events.findIndex((event) => event.at > at);
  return events.splice(0, first === -1 ? events.length : first).map(({ event }) => event);
}

/**
 * What kept a new signing key from being known: until it is, receipts wait, also those that the old
 * one signed.
 */
async function announced(attachment: Attachment, options: SubmitOptions): Promise<ServiceError | null> {
  try {
    await announceRotation(attachment, options);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
