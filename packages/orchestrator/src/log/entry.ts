import type { PlacedLeaf } from "./log-writes.ts";
import type { SqlSession } from "../platform/database/sql-session.ts";

/** Something that an agent wants in its organisation's log. */
export interface LogEntry {
  /** `rcpt_…` or `evt_…` */
  id: string;
  orgId: string;
  agentId: string;
  /** The fingerprint of the key that it is signed with, if that has to be the agent's still when it is placed. */
  signedWith?: string;
  /** The leaf's bytes, at most 65,535 of them. */
  leaf: Uint8Array;
}

export interface PlacedEntry<Entry extends LogEntry> extends PlacedLeaf {
  entry: Entry;
}

/** What becomes of an entry: it is appended, it is in the log already, or it is refused. */
export type Verdict<Entry> =
  | { is: "new" }
  | { is: "recorded"; logIndex: number }
  /** Another one of the same batch, judged `new` before, is this very entry. */
  | { is: "duplicate"; of: Entry }
  | { is: "refused"; error: Error };

/** What a feature does for its entries inside a batch's transaction. */
export interface EntryKind<Entry extends LogEntry> {
  /**
   * Sends its lookups, without waiting in between, right behind the lock on the logs, and resolves to the judge, who is asked once for each
   * entry that is still in question, in their order.
   */
  lookup(session: SqlSession, entries: readonly Entry[]): Promise<(entry: Entry) => Verdict<Entry>>;
  /** Sends the statements that write the entries' own rows. */
  insert(session: SqlSession, placed: readonly PlacedEntry<Entry>[]): Promise<unknown>[];
}

/** What became of a call that was made before. */
export type EarlierCall<Answer> =
  /** Its entry is in the log; the answer follows from its place and the tree that it was given for. */
  | { is: "placed"; logIndex: number; treeSize: number }
  | { is: "answered"; answer: Answer }
  | { is: "refused"; error: Error };

/** A call whose entry has its place. */
export interface PlacedCall<Call> {
  call: Call;
  logIndex: number;
  /** Leaves of the tree as the batch leaves it. */
  treeSize: number;
}

/** What is kept of the calls that bring entries, inside a batch's transaction: a crash leaves both or neither. */
export interface CallRecords<Call, Answer> {
  /** The same name is the same call again; null where a repeat is a call of its own. */
  nameOf(call: Call): string | null;
  /**
   * Sends its lookups right behind the lock on the logs, as an EntryKind does, and resolves to who tells what became of a call when it
   * was made before; null is the first time.
   */
  lookup(
    session: SqlSession,
    calls: readonly Call[],
    now: Date,
  ): Promise<(call: Call) => EarlierCall<Answer> | null>;
  /** Sends the statements that write down the calls. */
  insert(session: SqlSession, placed: readonly PlacedCall<Call>[]): Promise<unknown>[];
}
