import { parseLeaf, ProofError } from "@attestore/proof";
import type { Check, LeafRow, ParsedLeaf } from "./check.ts";
import { checkEvent, readEvents } from "./check-event.ts";
import { readArchived } from "../archive/archived-envelopes.ts";
import { checkReceipt, readReceipts } from "./check-receipt.ts";

/** Compares these leaves with their receipts and events. */
export async function checkEntries(check: Check, rows: readonly LeafRow[]): Promise<void> {
  const leaves = rows.flatMap((row) => parse(check, row));
  const isReceipt = ({ leaf }: ParsedLeaf): boolean => leaf.id.startsWith("rcpt_");
  const receipts = leaves.filter(isReceipt);
  const events = leaves.filter((leaf) => !isReceipt(leaf));
  const ids = (of: readonly ParsedLeaf[]): string[] => of.map(({ leaf }) => leaf.id);
  const receiptRows = await readReceipts(check.session, check.orgId, ids(receipts));
  const places = [...receiptRows.values()]
    .map(({ receipt }) => receipt)
    .filter(({ envelope }) => envelope === null);
  const archived = check.files === null ? new Map<string, string>() : await readArchived(check.files, places);
  const unread = new Set(check.files === null ? places.map(({ id }) => id) : []);
  await Promise.all(
    receipts
      .filter(({ leaf }) => !unread.has(leaf.id))
      .map((leaf) => checkReceipt(check, leaf, receiptRows.get(leaf.leaf.id), archived)),
  );
  const eventRows = await readEvents(check.session, ids(events));
  for (const leaf of events) checkEvent(check, leaf, eventRows.get(leaf.leaf.id));
  check.counts.receipts += receipts.length - unread.size;
  check.counts.unread += unread.size;
  check.counts.events += events.length;
}

function parse({ orgId, report }: Check, row: LeafRow): ParsedLeaf[] {
  try {
    const leaf = parseLeaf(row.leaf);
    if (leaf.org_id !== orgId) report("leaf", `leaf ${row.log_index} belongs to ${leaf.org_id}`);
    return [{ row, leaf }];
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    report("leaf", `leaf ${row.log_index}: ${error.message}`);
    return [];
  }
}
