import type { ApiError } from "../platform/errors/api-error.ts";
import type { PlacedLeaf } from "./log-writes.ts";
import type { SqlSession } from "./sql-session.ts";

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
  | { is: "refused"; error: ApiError };

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
