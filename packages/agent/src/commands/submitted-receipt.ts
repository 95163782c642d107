import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseBundle } from "@attestore/proof";
import { receiptFileName, type ReceiptFile } from "../receipts/receipt-files.ts";
import type { Attachment } from "../service/attachment.ts";
import { submitWaiting } from "../spool/submit-waiting.ts";

/** Where a receipt of this run has got to. */
export interface ReceiptFate {
  readonly state: "accepted" | "waiting" | "refused";
  readonly file: string;
  readonly receiptId: string | null;
  readonly logIndex: number | null;
  /** Why it is not accepted. */
  readonly why: string | null;
}

/** Submits what waits and says what became of one receipt. Rejects only when the signal fires. */
export async function submitAndFollow(
  attachment: Attachment,
  receipt: ReceiptFile,
  signal: AbortSignal,
): Promise<ReceiptFate> {
  const { layout } = attachment;
  const report = await submitWaiting(attachment, { signal, once: false });
  const name = receiptFileName(receipt.sequence, receipt.kind);
  const accepted = join(layout.receipts, name);
  if (existsSync(accepted)) {
    const { leaf, inclusion_proof: proof } = parseBundle(await readFile(accepted));
    return { state: "accepted", file: accepted, receiptId: leaf.id, logIndex: proof.log_index, why: null };
  }
  const refused = join(layout.receiptsRefused, name);
  const place = { receiptId: null, logIndex: null };
  if (existsSync(refused))
    return {
      ...place,
      state: "refused",
      file: refused,
      why: "the service refused it: see `attestore status`",
    };
  const why =
    report.stoppedBy?.message ??
    (report.unproven > 0 ? "the service's answer did not prove its inclusion" : null);
  return { ...place, state: "waiting", file: receipt.path, why };
}
