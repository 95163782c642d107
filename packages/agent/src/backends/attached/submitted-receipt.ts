import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseBundle } from "@attestore/proof";
import { receiptFileName, type ReceiptFile } from "../../receipts/receipt-files.ts";
import type { Attachment } from "../../service/attachment.ts";
import { LogAlarmError } from "../../state/log-alarm.ts";
import { submitWaiting } from "./submit-waiting.ts";
import type { ReceiptStatus } from "../backup-backend.ts";

/**
 * Submits everything that waits, and says what became of one receipt. Rejects only when the signal
 * fires.
 */
export async function submitAndFollow(
  attachment: Attachment,
  receipt: ReceiptFile,
  signal: AbortSignal,
): Promise<ReceiptStatus> {
  const { layout } = attachment;
  const report = await submitWaiting(attachment, { signal, once: false });
  const name = receiptFileName(receipt.sequence, receipt.kind);
  const accepted = join(layout.receipts, name);
  if (existsSync(accepted)) {
    const { leaf, inclusion_proof: proof } = parseBundle(await readFile(accepted));
    const place = { receiptId: leaf.id, logIndex: proof.log_index };
    return { ...place, state: "accepted", file: accepted, why: null, isWrong: false };
  }
  const refused = join(layout.receiptsRefused, name);
  const place = { receiptId: null, logIndex: null };
  if (existsSync(refused)) {
    const why = "the service rejected it: see `attestore status`";
    return { ...place, state: "refused", file: refused, why, isWrong: true };
  }
  const unproven = report.unproven > 0 ? "the service's answer did not prove its inclusion" : null;
  return {
    ...place,
    state: "waiting",
    file: receipt.path,
    why: report.stoppedBy?.message ?? unproven,
    isWrong: unproven !== null || report.stoppedBy instanceof LogAlarmError,
  };
}
