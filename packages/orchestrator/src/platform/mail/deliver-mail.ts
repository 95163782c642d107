import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import type { Database } from "../database/schema.ts";
import type { Sealer } from "../http/sealer.ts";
import type { Logger } from "../logging/logger.ts";
import { TroubleLog } from "../logging/trouble-log.ts";
import type { Mail, MailTransport } from "./mail.ts";
import { forgetMail, postponeMail, takeDueMail, type QueuedMail } from "./outbox.ts";

const LOOK_EVERY_MS = 1000;
const AT_ONCE = 5;
/** A longer attempt is given up; nobody else takes the mail before that. */
const SEND_WITHIN_MS = 40_000;
const LEASE_S = 60;
const FIRST_PAUSE_S = 5;
const LONGEST_PAUSE_S = 3600;

export interface DeliveryDeps {
  db: Database;
  sealer: Sealer;
  transport: MailTransport;
  logger: Logger;
}

/**
 * Sends queued mails until `signal`; any number of replicas may run it. Resolves when the last
 * running attempt has ended.
 */
export async function deliverMail(deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  const trouble = new TroubleLog(deps.logger, {
    fails: "the queue of mails could not be read; trying again",
    works: "the queue of mails can be read again",
  });
  while (!signal.aborted) {
    let sent = 0;
    try {
      sent = await deliverDue(deps);
      trouble.worked();
    } catch (error) {
      trouble.failed(error);
    }
    if (sent === 0) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Tries the due mails, some at a time. A failed mail is tried again with growing pauses until it is
 * no longer of use.
 * @returns how many were tried
 */
export async function deliverDue(deps: DeliveryDeps): Promise<number> {
  const due = await takeDueMail(deps.db, deps.sealer, { count: AT_ONCE, lease_s: LEASE_S });
  await Promise.all(due.map((queued) => deliver(deps, queued)));
  return due.length;
}

async function deliver({ db, transport, logger }: DeliveryDeps, queued: QueuedMail): Promise<void> {
  const { id, attempts, expired } = queued;
  try {
    const mail = await queued.open();
    if (mail !== null && !expired) await sendInTime(transport, mail, `mail-${id}`);
    if (mail !== null && expired)
      logger.error({ mail: id, attempts }, "a mail could not be sent, and is dropped after its last attempt");
  } catch (error) {
    const pause_s = Math.min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** Math.min(attempts - 1, 20));
    await postponeMail(db, id, pause_s);
    // The server's words, never the mail's: they may name the recipient, whom the operator may
    // know.
    logger.warn(
      { mail: id, attempts, pause_s, reason: errorMessage(error) },
      "a mail could not be sent; trying again",
    );
    return;
  }
  // After a crash before this, the mail is sent once more; readers can tell by its Message-ID.
  await forgetMail(db, id);
}

async function sendInTime(transport: MailTransport, mail: Mail, id: string): Promise<void> {
  const late = new AbortController();
  try {
    await Promise.race([
      transport.send(mail, id),
      delay(SEND_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
        throw new Error(`the mail server did not accept it within ${SEND_WITHIN_MS / 1000} s`);
      }),
    ]);
  } finally {
    late.abort();
  }
}
