export type LogCorruptionCode =
  /** The database holds a smaller tree than the one whose head was signed, or has not the head that was signed. */
  | "head_regressed"
  /** The database holds another root than the one that was signed for the same size. */
  | "head_forked"
  /** An organisation without a log. */
  | "log_missing"
  /** The log's row contradicts itself. */
  | "log_row_damaged"
  /** A leaf, tile or head that the tree's size says is there is not. */
  | "log_incomplete";

/** The log is not what it must be. Nothing is signed or acknowledged after it; `attestore-server fsck` tells more. */
export class LogCorruption extends Error {
  readonly code: LogCorruptionCode;

  constructor(code: LogCorruptionCode, message: string) {
    super(message);
    this.name = "LogCorruption";
    this.code = code;
  }
}
