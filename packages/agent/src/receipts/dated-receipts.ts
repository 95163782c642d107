import type { Statement } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { listAllReceipts, readStatement, type ReceiptState } from "./receipt-files.ts";

/** As much as the service allows for a host's clock. */
const AHEAD_MS = 5 * 60_000;

export interface DatedReceipt {
  readonly statement: Statement;
  readonly state: ReceiptState;
  /** When its run ended; long ago if nobody knows, because the clock was ahead. */
  readonly endedAt: number;
  /** Never later than that of a receipt that was signed afterwards: sorts as they were signed. */
  readonly orderedAt: number;
}

/**
 * This host's receipts, the newest first. A clock that was ahead has signed times that are still to
 * come. Its runs would be the newest for as long, so each has its place just before the one that
 * was signed after it.
 */
export async function datedReceipts(layout: Layout, now: number): Promise<DatedReceipt[]> {
  const dated: DatedReceipt[] = [];
  let orderedAt = now;
  for (const file of await listAllReceipts(layout)) {
    const statement = await readStatement(file);
    if (statement === null) continue;
    const signed = Date.parse(statement.predicate.finished_at);
    const isKnown = signed <= now + AHEAD_MS;
    orderedAt = isKnown ? Math.min(orderedAt, signed) : orderedAt - 1;
    const endedAt = isKnown ? Math.min(signed, now) : Number.NEGATIVE_INFINITY;
    dated.push({ statement, state: file.state, endedAt, orderedAt });
  }
  return dated;
}
