import { join } from "node:path";
import type { ReceiptAccepted } from "@attestore/contract";
import { moveFile, removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import { readJson } from "../../state/read-json.ts";
import { answerOf, receiptFileName, type ReceiptFile } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import type { Attachment } from "../../service/attachment.ts";
import { isPermanentRefusal, ServiceError } from "../../transport/service-error.ts";
import { observeCheckpoint } from "../../log/witness.ts";
import { finishCommand } from "../../journal/command-journal.ts";
import { spoolEvent } from "../../receipts/spooled-event.ts";
import { provenBundle, UnprovenAnswer } from "./verify-answer.ts";

/**
 * How long a receipt is retried: as long as the service remembers its Idempotency-Key. An older
 * receipt is set aside only after the service has seen and refused it. The host may have been off
 * or its clock wrong, and the service recognises the same bytes without the key.
 */
export const SUBMIT_FOR_DAYS = 30;
/**
 * Temporary failures: no answer or a truncated one, a request still in progress, too many requests,
 * or a proxy or service that cannot reach its backend.
 */
export const NOT_LOOKED_AT: ReadonlySet<number | null> = new Set([null, 408, 409, 425, 429, 502, 503, 504]);

export interface SubmitOptions {
  readonly signal: AbortSignal;
  /** One try for each entry; the caller comes back later. */
  readonly once: boolean;
}

export type Submitted =
  | { readonly outcome: "accepted"; readonly receiptId: string; readonly logIndex: number }
  | { readonly outcome: "refused"; readonly why: string }
  /** The answer's proof was invalid. The receipt stays in the spool. */
  | { readonly outcome: "unproven"; readonly why: string };

/**
 * Submits one waiting receipt and acts on the answer. Can be repeated after a crash between any two
 * steps: the same bytes are sent under the same Idempotency-Key, and the waiting file is removed
 * last.
 * @throws ServiceError if there was no answer, or none about this receipt; LogAlarmError
 */
export async function submitReceipt(
  attachment: Attachment,
  file: ReceiptFile,
  { signal, once }: SubmitOptions,
): Promise<Submitted> {
  const waiting = (await readJson(file.path)) as WaitingReceipt;
  return settleReceipt(attachment, { file, waiting }, signal, () =>
    attachment.service.submitReceipt(waiting.envelope, {
      signal,
      idempotencyKey: waiting.idempotency_key,
      once: once || isOverdue(waiting),
    }),
  );
}

/**
 * Asks for the answer to a waiting receipt, and acts on it.
 * @throws ServiceError, LogAlarmError, as `submitReceipt` does
 */
export async function settleReceipt(
  attachment: Attachment,
  { file, waiting }: { readonly file: ReceiptFile; readonly waiting: WaitingReceipt },
  signal: AbortSignal,
  ask: () => Promise<ReceiptAccepted>,
): Promise<Submitted> {
  const { layout } = attachment;
  const name = receiptFileName(file.sequence, file.kind);
  const accepted = join(layout.receipts, name);
  const overdue = `was not accepted within ${SUBMIT_FOR_DAYS} days`;
  try {
    const answer = await ask();
    let bundle;
    try {
      bundle = await provenBundle(attachment, waiting.envelope, answer);
    } catch (error) {
      if (!(error instanceof UnprovenAnswer)) throw error;
      await keepUnproven(answer, error);
      if (isOverdue(waiting)) return await refuse(overdue, null);
      return { outcome: "unproven", why: error.message };
    }
    // Treat the answer's checkpoint like any other: if it forks from the ones seen before, it
    // proves nothing.
    await observeCheckpoint(attachment, answer.checkpoint, signal);
    await replaceJsonFile(accepted, bundle);
    if (waiting.command_id !== null)
      await finishCommand(layout, waiting.command_id, `receipt ${answer.receipt_id}`);
    await removeFile(file.path);
    return { outcome: "accepted", receiptId: answer.receipt_id, logIndex: answer.log_index };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isPermanentRefusal(error)) return refuse(error.message, error);
    if (isOverdue(waiting) && !NOT_LOOKED_AT.has(error.status)) return refuse(overdue, null);
    throw error;
  }

  /** Sets the receipt aside with the service's answer, for a person to decide. */
  async function refuse(why: string, error: ServiceError | null): Promise<Submitted> {
    const refused_at = new Date().toISOString();
    const answer = { why, refusal: error?.refusal ?? null, refused_at };
    await replaceJsonFile(join(layout.receiptsRefused, answerOf(name)), answer);
    await spoolEvent(layout, `receipt-${file.sequence}-refused`, {
      kind: "attestation_failed",
      occurred_at: refused_at,
      ...(waiting.command_id === null ? {} : { command_id: waiting.command_id }),
      detail: {
        reason: "receipt_refused",
        receipt: file.sequence,
        error: error?.refusal?.error ?? "expired",
      },
    });
    if (waiting.command_id !== null)
      await finishCommand(layout, waiting.command_id, `receipt refused: ${why}`);
    await moveFile(file.path, join(layout.receiptsRefused, name));
    return { outcome: "refused", why };
  }

  async function keepUnproven(answer: unknown, error: UnprovenAnswer): Promise<void> {
    const at = new Date().toISOString();
    await replaceJsonFile(join(layout.alarms, `receipt-${file.sequence}.json`), {
      at,
      why: error.message,
      answer,
    });
    await spoolEvent(layout, `receipt-${file.sequence}-unproven`, {
      kind: "attestation_failed",
      occurred_at: at,
      detail: { reason: "answer_unproven", receipt: file.sequence, why: error.message.slice(0, 2000) },
    });
  }
}

function isOverdue({ signed_at }: WaitingReceipt): boolean {
  return Date.now() - Date.parse(signed_at) > SUBMIT_FOR_DAYS * 86_400_000;
}
