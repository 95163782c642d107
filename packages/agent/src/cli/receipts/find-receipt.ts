import { listAllReceipts, type ReceiptFile } from "../../receipts/receipt-files.ts";
import type { Layout } from "../../state/layout.ts";
import { UserError } from "../../errors/user-error.ts";
import { receiptLine } from "./receipt-line.ts";

/**
 * Finds the receipts that the user means: by number, by the service's id, or all of a backup.
 * @throws UserError usage if there are none
 */
export async function findReceipts(layout: Layout, wanted: string): Promise<ReceiptFile[]> {
  const all = await listAllReceipts(layout);
  const found: ReceiptFile[] = [];
  for (const file of all) {
    if (/^\d+$/.test(wanted)) {
      if (file.sequence === Number(wanted)) found.push(file);
      continue;
    }
    const { receipt_id, backup_id } = await receiptLine(file, new Map());
    if (receipt_id === wanted || backup_id === wanted) found.push(file);
  }
  if (found.length > 0) return found;
  throw new UserError(
    "usage",
    `there is no receipt ${wanted} on this host: give a number, rcpt_… or bkp_… from \`attestore receipts list\``,
  );
}
