import type { PlacedLeaf } from "../append/log-writes.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";

/** An entry that an agent submits to its organisation's log. */
export interface LogEntry {
  /** `rcpt_…` or `evt_…` */
  id: string;
  orgId: string;
  agentId: string;
  /**
   * Fingerprint of the signing key, if that must still be the agent's key when the entry is
   * appended.
   */
  signedWith?: string;
  /** The leaf's bytes, at most 65,535 of them. */
  leaf: Uint8Array;
  /** Whether it is the last of its batch, so that the first head over it ends with it. */
  endsBatch?: boolean;
}

export interface PlacedEntry<Entry extends LogEntry> extends PlacedLeaf {
  entry: Entry;
}

/** The verdict on an entry: it is appended, it is already in the log, or it is refused. */
export type Verdict<Entry> =
  | { is: "new" }
  | { is: "recorded"; logIndex: number }
  /** The same entry occurred earlier in this batch and was judged `new`. */
  | { is: "duplicate"; of: Entry }
  | { is: "refused"; error: Error };

/** A feature's part in a batch's transaction, for its kind of entries. */
export interface EntryKind<Entry extends LogEntry> {
  /**
   * Sends its lookups in one go, right after the lock on the logs. Resolves to the judge, which is
   * called once for each undecided entry, in their order.
   */
  lookup(session: SqlSession, entries: readonly Entry[]): Promise<(entry: Entry) => Verdict<Entry>>;
  /** Sends the statements that write the entries' own rows. */
  insert(session: SqlSession, placed: readonly PlacedEntry<Entry>[]): Promise<unknown>[];
}

/** The outcome of an earlier call. */
export type EarlierCall<Answer> =
  /**
   * Its entry is in the log. The answer follows from the entry's index and the tree it was proven
   * in.
   */
  | { is: "placed"; logIndex: number; treeSize: number }
  | { is: "answered"; answer: Answer }
  | { is: "refused"; error: Error };

/** A call whose entry has its index. */
export interface PlacedCall<Call> {
  call: Call;
  logIndex: number;
  /** Number of leaves after the batch. */
  treeSize: number;
}

/** Records calls in the same transaction as their entries, so a crash leaves both or neither. */
export interface CallRecords<Call, Answer> {
  /** Equal names mean the same call; null if each repeat is a call of its own. */
  nameOf(call: Call): string | null;
  /**
   * Sends its lookups right after the lock on the logs, as an EntryKind does. Resolves to a
   * function that gives an earlier call's outcome, or null for a call that is made for the first
   * time.
   */
  lookup(
    session: SqlSession,
    calls: readonly Call[],
    now: Date,
  ): Promise<(call: Call) => EarlierCall<Answer> | null>;
  /** Sends the statements that record the calls. */
  insert(session: SqlSession, placed: readonly PlacedCall<Call>[]): Promise<unknown>[];
}
