import type { EntryKind, PlacedEntry, Verdict } from "../../log/sequencer/entry.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { recordDays } from "./record-days.ts";
import { findLateSubmissions, type FindRight } from "./late-submissions.ts";
import { isTester, mismatchOf, notTester, type BackupFacts } from "./match.ts";
import type { ReceiptEntry } from "./receipt-entry.ts";
import {
  insertReceipts,
  linkAnsweredCommands,
  linkCommands,
  linkTestCommands,
  markBackedUp,
  markFailed,
  markProven,
  markSuspicious,
  readBackups,
  readRecorded,
} from "./store.ts";

/**
 * Receipts in a batch. A receipt that the log already has is recognised by its envelope, whatever
 * the request's key: it was accepted when it first came and stays valid, even if its backup has
 * expired since.
 * The chain of `previous_receipt_sha256` is stored and not enforced. An agent with a spool may
 * submit two receipts at once, or repeat one that it got no answer for; refusing the one that comes
 * out of order would lose a receipt over its place in line. Whoever reads an agent's receipts in
 * the log's order sees every gap and fork of the chain.
 */
export const receipts: EntryKind<ReceiptEntry> = {
  async lookup(session: SqlSession, entries: readonly ReceiptEntry[]) {
    const [recorded, backups] = await Promise.all([
      readRecorded(
        session,
        entries.map(({ envelopeSha256 }) => envelopeSha256),
      ),
      readBackups(session, new Set(entries.map(({ statement }) => statement.predicate.backup_id))),
    ]);
    const late = entries.flatMap((entry) => {
      const backup = backups.get(entry.statement.predicate.backup_id);
      return backup !== undefined && isByFormerTester(entry, backup) ? [{ entry, backup }] : [];
    });
    return judge(recorded, backups, await findLateSubmissions(session, late, new Date()));
  },

  insert(session: SqlSession, placed: readonly PlacedEntry<ReceiptEntry>[]) {
    const made = placed.filter(({ entry }) => entry.kind === "backup");
    const tested = placed.filter(({ entry }) => entry.kind === "restore_test");
    const proven = tested.filter(({ entry }) => entry.result === "passed");
    const failed = tested.filter(({ entry }) => entry.result === "failed");
    const suspicious = tested.filter(isSuspicious);
    const asked = tested.filter(({ entry }) => entry.answers === undefined);
    const answered = tested.flatMap(({ entry: { id, answers } }) =>
      typeof answers === "string" ? [[id, answers] as const] : [],
    );
    return [
      insertReceipts(session, placed),
      recordDays(session, placed),
      ...(made.length === 0 ? [] : [markBackedUp(session, made), linkCommands(session, made)]),
      ...(asked.length === 0 ? [] : [linkTestCommands(session, asked)]),
      ...(answered.length === 0 ? [] : [linkAnsweredCommands(session, answered)]),
      ...(proven.length === 0 ? [] : markProven(session, proven)),
      ...(failed.length === 0 ? [] : [markFailed(session, failed)]),
      ...(suspicious.length === 0 ? [] : [markSuspicious(session, suspicious)]),
    ];
  },
};

function isSuspicious({ entry: { statement } }: PlacedEntry<ReceiptEntry>): boolean {
  const { predicate } = statement;
  return "profile" in predicate && predicate.profile !== undefined && predicate.profile.suspicious.length > 0;
}

function isByFormerTester(entry: ReceiptEntry, backup: BackupFacts): boolean {
  return (
    entry.kind === "restore_test" && mismatchOf(entry, backup) === null && !isTester(entry.agentId, backup)
  );
}

function judge(
  recorded: ReadonlyMap<string, number>,
  backups: ReadonlyMap<string, BackupFacts>,
  findRight: FindRight,
) {
  const inThisBatch = new Map<string, ReceiptEntry>();
  return (entry: ReceiptEntry): Verdict<ReceiptEntry> => {
    const envelope = entry.envelopeSha256.toString("base64");
    const logIndex = recorded.get(envelope);
    if (logIndex !== undefined) return { is: "recorded", logIndex };
    const duplicate = inThisBatch.get(envelope);
    if (duplicate !== undefined) return { is: "duplicate", of: duplicate };
    const backup = backups.get(entry.statement.predicate.backup_id);
    const error = mismatchOf(entry, backup);
    if (error !== null) return { is: "refused", error };
    // After a batch failed, its receipts are checked again.
    delete entry.answers;
    if (backup !== undefined && isByFormerTester(entry, backup)) {
      const right = findRight({ entry, backup });
      if (right === null) return { is: "refused", error: notTester() };
      entry.answers = right.commandId;
    }
    inThisBatch.set(envelope, entry);
    return { is: "new" };
  };
}
