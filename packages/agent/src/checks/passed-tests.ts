import type { NegativeControl, Profile } from "@attestore/proof";

interface Observed {
  readonly id: string;
  readonly definition_sha256?: string;
  readonly observed: Readonly<Record<string, unknown>>;
  readonly negative_control?: NegativeControl;
}

/** A passed restore test, from its receipt. */
export interface PassedTest {
  /** RFC 3339 in UTC, with milliseconds: when it ended. */
  readonly at: string;
  readonly backupId: string;
  /** When its backup was made; what existed then may be gone when it is tested. */
  readonly madeAt: string;
  readonly checks: readonly Observed[];
  /** The tables that the backup's own receipt names, counted or not. */
  readonly tables?: readonly string[];
  readonly profile?: Profile;
}

/** Counts that passed tests saw of tables that their receipts have no room to name. */
export interface UnnamedTable {
  readonly name: string;
  /** Oldest first, without those that a later one exceeds. */
  readonly seen: readonly { readonly rows: number; readonly test: Omit<PassedTest, "checks" | "tables"> }[];
}

/** A person accepted a loss. */
export interface AcceptedLoss {
  /** A table in the form of check ids, or a pattern with `*`. */
  readonly table: string;
  readonly at: string;
  /**
   * When the newest backup was made that had passed by then: content of that and older backups is
   * no longer expected.
   */
  readonly upTo: string;
}

export interface PassedBefore {
  /** Its slug. */
  readonly source: string;
  /** The backup that is tested; absent if this is not for a test. */
  readonly backupId?: string;
  /** The newest backup's first. */
  readonly tests: readonly PassedTest[];
  readonly unnamed?: readonly UnnamedTable[];
  readonly accepted?: readonly AcceptedLoss[];
  /** Tables that may lose rows; those that a pattern matches may also disappear. */
  readonly mayShrink?: readonly string[];
  /** False if no table is compared with the rows that it had. */
  readonly rowFloors?: boolean;
  /** Milliseconds since 1970. */
  readonly now?: number;
}

/** A table's counts in some test. */
export interface SeenRows {
  readonly rows: number;
  readonly test: Omit<PassedTest, "checks" | "tables">;
}

export interface Floor {
  /** The least number of rows it must have. */
  readonly rows: bigint;
  /** The most rows it had. */
  readonly best: SeenRows;
}

export interface SeenTable {
  readonly name: string;
  /** Null if nobody counted them. */
  readonly rows: number | null;
}
