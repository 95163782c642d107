import { join } from "node:path";
import { moveFile, removeFile, replaceFile } from "@attestore/host/durable-files";
import type { Layout } from "../../state/layout.ts";
import { readJson } from "../../state/read-json.ts";
import { waitForLock } from "../../state/lock.ts";
import { listReceipts, receiptFileName } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import { listEvents } from "../../receipts/spooled-event.ts";

/**
 * Puts signed receipts and reported events in their final place: without a service nobody has to
 * accept them. A receipt's file becomes its bare DSSE envelope, which `attestore-verify` and every
 * other DSSE tool can read. Can be repeated: the waiting file is removed last.
 */
export async function keepReceipts(layout: Layout, signal: AbortSignal): Promise<number> {
  using _ = await waitForLock(layout, "spool", "keep receipts", { signal });
  let kept = 0;
  for (const file of await listReceipts(layout, "waiting")) {
    const { envelope } = (await readJson(file.path)) as WaitingReceipt;
    const path = join(layout.receipts, receiptFileName(file.sequence, file.kind));
    await replaceFile(path, `${JSON.stringify(envelope)}\n`);
    await removeFile(file.path);
    kept++;
  }
  for (const { name, path } of await listEvents(layout.eventsWaiting)) {
    await moveFile(path, join(layout.events, `${name}.json`));
    kept++;
  }
  return kept;
}
