import { ApiError } from "../platform/errors/api-error.ts";

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

/** Only people can put a database that was set back right: agents need not ask every few seconds. */
const RETRY_AFTER_S = "300";

/** The log is not what it must be. Nothing is signed or acknowledged after it; `attestore-server fsck` tells more. */
export class LogCorruption extends Error {
  readonly code: LogCorruptionCode;
  /** What a caller is told: 503 where the database was set back, 500 for damage. */
  readonly answer: ApiError | null;

  constructor(code: LogCorruptionCode, message: string) {
    super(message);
    this.name = "LogCorruption";
    this.code = code;
    this.answer = code === "head_regressed" || code === "head_forked" ? setBack() : null;
  }
}

function setBack(): ApiError {
  return new ApiError(
    "unavailable",
    "This organisation's log is read-only: the service's database was set back to before a head of the log that was signed. What was recorded can be read. Whoever runs the service has to restore the newest database.",
    { reason: "log_set_back" },
    { "retry-after": RETRY_AFTER_S },
  );
}
