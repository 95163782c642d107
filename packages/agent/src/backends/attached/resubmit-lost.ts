import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { moveFile, replaceJsonFile } from "@attestore/host/durable-files";
import { parseCheckpoint, parseNote, type ServiceEventBundle, type ReceiptBundle } from "@attestore/proof";
import { generationOf, readFollowed, writeFollowed } from "../../log/followed-generations.ts";
import { listReceipts, receiptFileName } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import { type AcceptedEvent, listEvents, type WaitingEvent } from "../../receipts/spooled-event.ts";
import type { Layout } from "../../state/layout.ts";
import { waitForLock } from "../../state/lock.ts";
import { readJson } from "../../state/read-json.ts";

/**
 * Puts accepted receipts and signed events back into the spool if the log lost their place, once
 * for each generation that this agent followed to. Their former proofs are kept: they have the
 * log's signature. Each is in the spool before its accepted file is moved away, so nothing is
 * missing after a crash, and the next call continues. Called with the spool's lock.
 */
export async function resubmitLost(layout: Layout, signal: AbortSignal): Promise<void> {
  if (!(await hasToResubmit(layout))) return;
  const followed = await readFollowed(layout);
  const present = generationOf(followed);
  const left = leftOf(followed.began);
  for (const { path, sequence, kind } of await listReceipts(layout, "accepted")) {
    const bundle = (await readJson(path)) as ReceiptBundle;
    if (!isLost(left, bundle.checkpoint, bundle.inclusion_proof.log_index)) continue;
    const name = receiptFileName(sequence, kind);
    const waiting: WaitingReceipt = {
      v: 1,
      idempotency_key: randomUUID(),
      // So it keeps its order among the entries before and after it.
      signed_at: bundle.leaf.recorded_at,
      command_id: null,
      envelope: bundle.envelope,
    };
    await replaceJsonFile(join(layout.receiptsWaiting, name), waiting);
    await moveFile(path, join(layout.lostPlaces, `${present}-${name}`));
  }
  for (const { path, name } of await listEvents(layout.events)) {
    const accepted = (await readJson(path)) as AcceptedEvent;
    const { event, envelope, answer } = accepted;
    if (envelope === undefined || !isLost(left, answer.checkpoint, answer.log_index)) continue;
    const waiting: WaitingEvent = { v: 1, idempotency_key: randomUUID(), event, envelope };
    await replaceJsonFile(join(layout.eventsWaiting, `${name}.json`), waiting);
    await moveFile(path, join(layout.lostPlaces, `${present}-${name}.json`));
  }
  // The log's witness may have followed further meanwhile.
  using _ = await waitForLock(layout, "log", "submit lost entries again", { signal });
  await writeFollowed(layout, { ...(await readFollowed(layout)), handed_in_again: present });
}

/** Whether this agent has yet to submit what the log lost before its present generation. */
export async function hasToResubmit(layout: Layout): Promise<boolean> {
  const followed = await readFollowed(layout);
  return followed.handed_in_again < generationOf(followed);
}

/** How many entries were left of each generation that ended. */
function leftOf(began: readonly ServiceEventBundle[]): Map<string, number> {
  return new Map(
    began.map(({ event: { detail } }) => [String(detail["ended"]), Number(detail["tree_size"])]),
  );
}

/** Whether this checkpoint proves a place beyond the remaining entries. */
function isLost(left: ReadonlyMap<string, number>, checkpoint: string, logIndex: number): boolean {
  const { origin } = parseCheckpoint(parseNote(checkpoint).text);
  return logIndex >= (left.get(origin) ?? Infinity);
}
