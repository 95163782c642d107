import { MAX_RECEIPTS_AT_ONCE, MAX_RECEIPTS_AT_ONCE_BYTES } from "@attestore/contract";
import type { ReceiptFile } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import type { Attachment } from "../../service/attachment.ts";
import { readJson } from "../../state/read-json.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { settleReceipt, type Submitted, type SubmitOptions } from "./submit-receipt.ts";

/** Fewer are sent one by one, each under its own Idempotency-Key. */
const FEWEST = 4;

export interface WaitingFile {
  readonly file: ReceiptFile;
  readonly waiting: WaitingReceipt;
}

/**
 * The first of these receipts that may go in one call: those signed before `until`, when an event
 * comes between. Stops before a damaged file. Empty if they are too few.
 */
export async function readTogether(receipts: readonly ReceiptFile[], until: number): Promise<WaitingFile[]> {
  const together: WaitingFile[] = [];
  let bytes = 0;
  for (const file of receipts.slice(0, MAX_RECEIPTS_AT_ONCE)) {
    const waiting = (await readJson(file.path).catch(() => null)) as WaitingReceipt | null;
    if (waiting === null || Date.parse(waiting.signed_at) >= until) break;
    bytes += Buffer.byteLength(JSON.stringify(waiting.envelope)) + 1;
    if (bytes > MAX_RECEIPTS_AT_ONCE_BYTES) break;
    together.push({ file, waiting });
  }
  return together.length < FEWEST ? [] : together;
}

/**
 * Submits receipts in one call, in their order.
 * @returns for each of them what acts on its answer, as `submitReceipt` does; null from a service
 * that takes only one at a time
 * @throws ServiceError if there was no answer
 */
export async function submitTogether(
  attachment: Attachment,
  receipts: readonly WaitingFile[],
  { signal, once }: SubmitOptions,
): Promise<(() => Promise<Submitted>)[] | null> {
  try {
    const answers = await attachment.service.submitReceipts(
      receipts.map(({ waiting }) => waiting.envelope),
      { signal, once, idempotencyKey: null },
    );
    return receipts.map(
      (receipt, index) => () =>
        settleReceipt(attachment, receipt, signal, async () => {
          const read = answers[index];
          if (read === undefined) throw new Error("an answer is missing");
          return read();
        }),
    );
  } catch (error) {
    if (error instanceof ServiceError && error.refusal?.error === "unsupported_media_type") return null;
    throw error;
  }
}
