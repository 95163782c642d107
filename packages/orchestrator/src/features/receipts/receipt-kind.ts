import type { EntryKind, PlacedEntry, Verdict } from "../../log/entry.ts";
import type { SqlSession } from "../../log/sql-session.ts";
import { recordDays } from "../overview/record-days.ts";
import { mismatchOf, type BackupFacts } from "./match.ts";
import type { ReceiptEntry } from "./receipt-entry.ts";
import {
  insertReceipts,
  linkCommands,
  linkTestCommands,
  markBackedUp,
  markFailed,
  markProven,
  readBackups,
  readRecorded,
} from "./store.ts";

/**
 * Receipts in a batch. A receipt that the log has is recognised by its envelope, whatever the request's key: it was accepted when
 * it came first, and stays what it was, also if its backup has expired since.
 *
 * The chain of `previous_receipt_sha256` is stored and not enforced. An agent that spools may submit two receipts at once,
 * or submit again what it got no answer for; refusing the one that comes out of turn would lose a receipt over its
 * place in line. Who reads an agent's receipts in the log's order sees every gap and fork of the chain.
 */
export const receipts: EntryKind<ReceiptEntry> = {
  async examine(session: SqlSession, entries: readonly ReceiptEntry[]) {
    const [recorded, backups] = await Promise.all([
      readRecorded(
        session,
        entries.map(({ envelopeSha256 }) => envelopeSha256),
      ),
      readBackups(session, new Set(entries.map(({ statement }) => statement.predicate.backup_id))),
    ]);
    return judge(recorded, backups);
  },

  insert(session: SqlSession, placed: readonly PlacedEntry<ReceiptEntry>[]) {
    const made = placed.filter(({ entry }) => entry.kind === "backup");
    const tested = placed.filter(({ entry }) => entry.kind === "restore_test");
    const proven = tested.filter(({ entry }) => entry.result === "passed");
    const failed = tested.filter(({ entry }) => entry.result === "failed");
    return [
      insertReceipts(session, placed),
      recordDays(session, placed),
      ...(made.length === 0 ? [] : [markBackedUp(session, made), linkCommands(session, made)]),
      ...(tested.length === 0 ? [] : [linkTestCommands(session, tested)]),
      ...(proven.length === 0 ? [] : markProven(session, proven)),
      ...(failed.length === 0 ? [] : [markFailed(session, failed)]),
    ];
  },
};

function judge(recorded: ReadonlyMap<string, number>, backups: ReadonlyMap<string, BackupFacts>) {
  const inThisBatch = new Map<string, ReceiptEntry>();
  return (entry: ReceiptEntry): Verdict<ReceiptEntry> => {
    const envelope = entry.envelopeSha256.toString("base64");
    const logIndex = recorded.get(envelope);
    if (logIndex !== undefined) return { is: "recorded", logIndex };
    const twin = inThisBatch.get(envelope);
    if (twin !== undefined) return { is: "twin", of: twin };
    const error = mismatchOf(entry, backups.get(entry.statement.predicate.backup_id));
    if (error !== null) return { is: "refused", error };
    inThisBatch.set(envelope, entry);
    return { is: "new" };
  };
}
