import { listAllReceipts, readStatement, type ReceiptFile } from "../receipts/receipt-files.ts";
import type { Layout } from "../state/layout.ts";
import { UserError } from "../errors/user-error.ts";

/**
 * A key counts for runs that ended before it was replaced. While this host's clock was ahead, it
 * signed runs that end at a moment still to come. If it were replaced before that moment, these
 * receipts would be false for ever. @throws UserError
 */
export async function requirePastRuns(layout: Layout, now = new Date()): Promise<void> {
  let last = now.toISOString();
  for (const file of await listAllReceipts(layout)) {
    // A rotation that the service refuses is in no log.
    const ended = file.state === "refused" ? null : await endOf(file);
    if (ended !== null && ended > last) last = ended;
  }
  if (last > now.toISOString())
    throw new UserError(
      "clock_ahead",
      `this host signed that a run ended at ${last}, which is in the future: its clock was ahead. With another key from now on, those receipts would ` +
        "no longer verify. Run this command again after that time. If somebody else has the key, revoke the agent and attach this host again.",
    );
}

/** Null for a damaged file, which shows nothing; if it is in the log, the service knows it too. */
async function endOf(file: ReceiptFile): Promise<string | null> {
  try {
    return (await readStatement(file))?.predicate.finished_at ?? null;
  } catch (error) {
    if (error instanceof UserError) throw error;
    return null;
  }
}
