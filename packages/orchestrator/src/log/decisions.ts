import { keyInProgress, keyReused } from "../platform/http/idempotency-key.ts";
import { agentRevoked } from "../platform/http/lock-active-agent.ts";
import type { SubmissionRecord } from "../platform/http/route.ts";
import type { EarlierAnswer, IdempotencyRecord } from "./batch-lookups.ts";
import type { EntryKind, LogEntry, PlacedEntry, Verdict } from "./entry.ts";
import type { LogAppends } from "./log-appends.ts";
import { KeyReplaced } from "./key-replaced.ts";
import { LogCorruption } from "./log-corruption.ts";
import type { LockedLog } from "./locked-log.ts";

/** An entry that waits for its place. */
export interface Submission {
  kind: EntryKind<LogEntry>;
  entry: LogEntry;
  record: SubmissionRecord;
}

/** What a batch makes of a submission. */
export type Decision =
  | { is: "appended"; placed: PlacedEntry<LogEntry> }
  /** It is in the log; `replayed` if under the same idempotency key, then with the answer of that time. */
  | { is: "recorded"; logIndex: number; treeSize: number; replayed: boolean }
  | { is: "remembered"; status: number; body: Buffer }
  | { is: "refused"; error: Error };

/** What was read under the locks. */
export interface Found {
  locked: Map<string, LockedLog | LogCorruption>;
  /** Active agents, each with the fingerprint of its key. */
  active: ReadonlyMap<string, string>;
  earlier: (key: IdempotencyRecord) => EarlierAnswer | null;
  judges: ReadonlyMap<EntryKind<LogEntry>, (entry: LogEntry) => Verdict<LogEntry>>;
}

/** Decides in the order of the submissions, and appends what is new to the logs in memory. */
export function decide(
  submissions: readonly Submission[],
  found: Found,
  logs: LogAppends,
): Map<Submission, Decision> {
  const decisions = new Map<Submission, Decision>();
  const placed = new Map<LogEntry, number>();
  for (const submission of submissions) {
    const { entry, kind } = submission;
    const decision = decideBefore(submission, found) ?? judge(entry, found.judges.get(kind), logs, placed);
    decisions.set(submission, decision);
  }
  // The proof of what was there before is for the tree as this batch leaves it.
  for (const [{ entry }, decision] of decisions)
    if (decision.is === "recorded" && !decision.replayed)
      decision.treeSize = logs.log(entry.orgId).growth.size;
  return decisions;
}

/** What is decided without looking at the entry itself. */
function decideBefore({ entry, record }: Submission, found: Found): Decision | null {
  const log = found.locked.get(entry.orgId);
  if (log instanceof LogCorruption) return { is: "refused", error: log };
  const key = found.active.get(entry.agentId);
  if (key === undefined) return { is: "refused", error: agentRevoked() };
  const earlier = record.idempotency === null ? null : found.earlier(record.idempotency);
  if (earlier !== null) return repeated(earlier);
  return entry.signedWith === undefined || entry.signedWith === key
    ? null
    : { is: "refused", error: new KeyReplaced() };
}

function repeated(earlier: EarlierAnswer): Decision {
  switch (earlier.is) {
    case "entry":
      return { is: "recorded", logIndex: earlier.logIndex, treeSize: earlier.treeSize, replayed: true };
    case "refusal":
      return { is: "remembered", status: earlier.status, body: earlier.body };
    case "other_body":
      return { is: "refused", error: keyReused() };
    case "in_progress":
      return { is: "refused", error: keyInProgress() };
  }
}

function judge(
  entry: LogEntry,
  verdictOf: ((entry: LogEntry) => Verdict<LogEntry>) | undefined,
  logs: LogAppends,
  placed: Map<LogEntry, number>,
): Decision {
  const verdict = verdictOf?.(entry) ?? { is: "new" };
  switch (verdict.is) {
    case "refused":
      return verdict;
    case "recorded":
      return { is: "recorded", logIndex: verdict.logIndex, treeSize: 0, replayed: false };
    case "duplicate": {
      const logIndex = placed.get(verdict.of);
      if (logIndex === undefined) throw new Error("an entry's duplicate has no place");
      return { is: "recorded", logIndex, treeSize: 0, replayed: false };
    }
    case "new": {
      const leaf = logs.append(entry.orgId, entry.leaf);
      placed.set(entry, leaf.logIndex);
      return { is: "appended", placed: { ...leaf, entry } };
    }
  }
}
