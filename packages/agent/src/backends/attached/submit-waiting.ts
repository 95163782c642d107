import { waitForLock } from "../../state/lock.ts";
import type { Layout } from "../../state/layout.ts";
import { readJson } from "../../state/read-json.ts";
import { listReceipts } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import type { Attachment } from "../../service/attachment.ts";
import { LogAlarmError } from "../../state/log-alarm.ts";
import { isUnauthenticated, ServiceError } from "../../transport/service-error.ts";
import { announceRotation } from "./announce-rotation.ts";
import { resubmitLost } from "./resubmit-lost.ts";
import { type EventFile, listEvents, readWaitingEvent } from "../../receipts/spooled-event.ts";
import { submitEvent } from "./submit-event.ts";
import { NOT_LOOKED_AT, submitReceipt, type Submitted, type SubmitOptions } from "./submit-receipt.ts";
import type { SubmitReport } from "../backup-backend.ts";
import { readTogether, submitTogether } from "./submit-together.ts";

/**
 * Submits everything in the spool once, oldest first: receipts in chain order, with events between
 * them by the time they occurred. So a failure is in the log before the receipt that resolves it.
 * Two processes never submit at the same time. Does not throw for errors of the service or the
 * network; rejects with the signal's reason.
 */
export async function submitWaiting(attachment: Attachment, options: SubmitOptions): Promise<SubmitReport> {
  const { layout } = attachment;
  using _ = await waitForLock(layout, "spool", "submit", { signal: options.signal });
  await resubmitLost(layout, options.signal);
  const count = { accepted: 0, refused: 0, unproven: 0 };
  let stoppedBy: ServiceError | LogAlarmError | null = await announced(attachment, options);
  let isAway = stoppedBy !== null && !hasAnswered(stoppedBy);

  /** Whether the service answered for it. */
  const attempt = async (
    submit: (options: SubmitOptions) => Promise<Pick<Submitted, "outcome">>,
  ): Promise<boolean> => {
    try {
      // After a first failure each other entry gets one try: the failure may concern only that
      // entry.
      count[(await submit({ ...options, once: options.once || stoppedBy !== null })).outcome]++;
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError || error instanceof LogAlarmError)) throw error;
      if (stoppedBy === null || error instanceof LogAlarmError) stoppedBy = error;
      isAway = !hasAnswered(error);
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

  // List receipts first: a failure that precedes a receipt is then in the spool when the events are
  // listed.
  const receipts = await listReceipts(layout, "waiting");
  const events = await eventsByTime(layout);
  let chainGoesOn = stoppedBy === null;
  let oneByOne = false;
  for (let left = receipts; chainGoesOn && !isAway;) {
    // The next receipt follows this one in the chain. Read it only when its turn comes, so that
    // damage to it does not block earlier ones.
    const [receipt] = left;
    if (receipt === undefined) break;
    const { signed_at } = (await readJson(receipt.path)) as WaitingReceipt;
    await submitEvents(takeUntil(events, Date.parse(signed_at)));
    if (isAway) break;
    const together = oneByOne ? [] : await readTogether(left, events[0]?.at ?? Infinity);
    if (together.length === 0) {
      chainGoesOn = await attempt((how) => submitReceipt(attachment, receipt, how));
      left = left.slice(1);
      continue;
    }
    let answers: (() => Promise<Submitted>)[] | null = null;
    try {
      answers = await submitTogether(attachment, together, options);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      chainGoesOn = await attempt(() => Promise.reject(error));
      break;
    }
    oneByOne = answers === null;
    if (answers === null) continue;
    // Those after one that failed may be in the log already: each answer counts.
    for (const settle of answers) if (!(await attempt(settle))) chainGoesOn = false;
    left = left.slice(together.length);
  }
  // Then the events after the last receipt, including those that submitting it has made.
  await submitEvents((await eventsByTime(layout)).map(({ event }) => event));
  const waiting = (await listReceipts(layout, "waiting")).length;
  return { ...count, waiting: waiting + (await listEvents(layout.eventsWaiting)).length, stoppedBy };
}

/** Whether the service was reachable, so that another entry may succeed. */
function hasAnswered(error: ServiceError | LogAlarmError): boolean {
  return error instanceof LogAlarmError || !(NOT_LOOKED_AT.has(error.status) || isUnauthenticated(error));
}

interface TimedEvent {
  readonly event: EventFile;
  readonly at: number;
}

/** Damaged entries come last, so that they block no others. */
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

/** Removes from the list the entries that occurred by then, and returns them. */
function takeUntil(events: TimedEvent[], at: number): EventFile[] {
  const first = events.findIndex((event) => event.at > at);
  return events.splice(0, first === -1 ? events.length : first).map(({ event }) => event);
}

/**
 * Why the service does not know a new signing key yet. Until it does, receipts wait, including
 * those signed with the old key.
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
