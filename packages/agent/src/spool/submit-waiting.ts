import { waitForLock } from "../root/lock.ts";
import { listReceipts } from "../receipts/receipt-files.ts";
import type { Attachment } from "../service/attachment.ts";
import { LogAlarmError } from "../service/log-alarm.ts";
import { isPermanentRefusal, ServiceError } from "../service/service-error.ts";
import { announceRotation } from "./announce-rotation.ts";
import { listEvents } from "./spooled-event.ts";
import { submitEvent } from "./submit-event.ts";
import { submitReceipt, type Submitted, type SubmitOptions } from "./submit-receipt.ts";

export interface SubmitReport {
  readonly accepted: number;
  readonly refused: number;
  readonly unproven: number;
  /** What is still to be submitted, with what was unproven. */
  readonly waiting: number;
  /** What kept an entry, or the rest of them, from being submitted. */
  readonly stoppedBy: ServiceError | LogAlarmError | null;
}

/**
 * Submits everything that waits, once: receipts in the order of their chain, then events. Two processes do not submit at
 * the same time. Does not throw for what the service or the network does; rejects with the signal's reason.
 */
export async function submitWaiting(attachment: Attachment, options: SubmitOptions): Promise<SubmitReport> {
  const { layout } = attachment;
  using _ = await waitForLock(layout, "spool", "submit", { signal: options.signal });
  const count = { accepted: 0, refused: 0, unproven: 0 };

  /** The failure, if it says nothing of this entry. */
  const attempt = async (
    submit: () => Promise<Pick<Submitted, "outcome">>,
  ): Promise<ServiceError | LogAlarmError | null> => {
    try {
      count[(await submit()).outcome]++;
      return null;
    } catch (error) {
      if (error instanceof ServiceError || error instanceof LogAlarmError) return error;
      throw error;
    }
  };

  let stoppedBy: ServiceError | LogAlarmError | null = await announced(attachment, options);
  for (const file of stoppedBy === null ? await listReceipts(layout, "waiting") : []) {
    stoppedBy = await attempt(() => submitReceipt(attachment, file, options));
    // The next one's place in the chain is behind this one.
    if (stoppedBy !== null) break;
  }
  // Events have no order, and they are what tells of an alarm; but what does not answer for one will not for the next.
  for (const file of await listEvents(layout.eventsWaiting)) {
    if (stoppedBy instanceof ServiceError && !isPermanentRefusal(stoppedBy)) break;
    stoppedBy = (await attempt(() => submitEvent(attachment, file, options))) ?? stoppedBy;
  }
  const waiting = (await listReceipts(layout, "waiting")).length;
  return { ...count, waiting: waiting + (await listEvents(layout.eventsWaiting)).length, stoppedBy };
}

/** What kept a new signing key from being known: until it is, receipts wait, also those that the old one signed. */
async function announced(attachment: Attachment, options: SubmitOptions): Promise<ServiceError | null> {
  try {
    await announceRotation(attachment, options);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
