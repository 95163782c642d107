import type { EarlierCall, EntryKind, LogEntry, PlacedEntry, Verdict } from "./entry.ts";
import type { LogAppends } from "../append/log-appends.ts";
import { LogCorruption } from "../log-corruption.ts";
import type { LockedLog } from "../append/locked-log.ts";
import { SubmissionRefused } from "./submission-refused.ts";

/** An entry that waits for its index in the log. */
export interface Submission<Call> {
  kind: EntryKind<LogEntry>;
  entry: LogEntry;
  call: Call;
}

/** The result of a submission in a batch. */
export type Decision<Answer> =
  | { is: "appended"; placed: PlacedEntry<LogEntry> }
  /**
   * The entry is in the log; `replayed` if the same call submitted it before, then with the tree of
   * that time.
   */
  | { is: "recorded"; logIndex: number; treeSize: number; replayed: boolean }
  | { is: "answered"; answer: Answer }
  | { is: "refused"; error: Error };

/** The rows read under the locks. */
export interface Found<Call, Answer> {
  locked: Map<string, LockedLog | LogCorruption>;
  /** Active agents, each with the fingerprint of its key. */
  active: ReadonlyMap<string, string>;
  earlier: (call: Call) => EarlierCall<Answer> | null;
  judges: ReadonlyMap<EntryKind<LogEntry>, (entry: LogEntry) => Verdict<LogEntry>>;
}

/** Decides in the order of the submissions, and appends new entries to the logs in memory. */
export function decide<Call, Answer>(
  submissions: readonly Submission<Call>[],
  found: Found<Call, Answer>,
  logs: LogAppends,
): Map<Submission<Call>, Decision<Answer>> {
  const decisions = new Map<Submission<Call>, Decision<Answer>>();
  const placed = new Map<LogEntry, number>();
  for (const submission of submissions) {
    const { entry, kind } = submission;
    const decision = decideBefore(submission, found) ?? judge(entry, found.judges.get(kind), logs, placed);
    decisions.set(submission, decision);
  }
  // An entry that was in the log before is proven in the tree as this batch leaves it.
  for (const [{ entry }, decision] of decisions)
    if (decision.is === "recorded" && !decision.replayed)
      decision.treeSize = logs.log(entry.orgId).growth.size;
  return decisions;
}

/** Decides what does not depend on the entry itself. */
function decideBefore<Call, Answer>(
  { entry, call }: Submission<Call>,
  found: Found<Call, Answer>,
): Decision<Answer> | null {
  const log = found.locked.get(entry.orgId);
  if (log instanceof LogCorruption) return { is: "refused", error: log };
  const key = found.active.get(entry.agentId);
  if (key === undefined) return { is: "refused", error: new SubmissionRefused("agent_not_active") };
  const earlier = found.earlier(call);
  if (earlier?.is === "placed") return { ...earlier, is: "recorded", replayed: true };
  if (earlier !== null) return earlier;
  return entry.signedWith === undefined || entry.signedWith === key
    ? null
    : { is: "refused", error: new SubmissionRefused("key_replaced") };
}

function judge(
  entry: LogEntry,
  verdictOf: ((entry: LogEntry) => Verdict<LogEntry>) | undefined,
  logs: LogAppends,
  placed: Map<LogEntry, number>,
): Exclude<Decision<never>, { is: "answered" }> {
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
