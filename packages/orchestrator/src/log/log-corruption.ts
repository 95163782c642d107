export type LogCorruptionCode =
  /** The database has a smaller tree than the signed head, or lacks that head. */
  | "head_regressed"
  /** The database has another root than the one signed for the same size. */
  | "head_forked"
  /** The database was restored a moment ago: first the agents say which heads they hold. */
  | "log_held"
  /** An organisation without a log. */
  | "log_missing"
  /** The log's row contradicts itself. */
  | "log_row_damaged"
  /** A leaf, tile or head that the tree's size implies is missing. */
  | "log_incomplete";

/**
 * The log is damaged or was set back. Nothing more is signed or acknowledged; `attestore-server
 * fsck` says more.
 */
export class LogCorruption extends Error {
  readonly code: LogCorruptionCode;

  constructor(code: LogCorruptionCode, message: string) {
    super(message);
    this.name = "LogCorruption";
    this.code = code;
  }
}
