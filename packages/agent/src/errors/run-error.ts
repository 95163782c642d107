/**
 * Why a run came to no result. A run that ended and found the data wrong has `failed`; this is for
 * everything that kept it from finding out. Backups and restore tests throw it.
 */
export type RunErrorCode =
  /** The caller aborted it (Ctrl-C, shutdown). */
  | "interrupted"
  /** A file system filled up. */
  | "disk_full"
  /** A program that the engine needs is not installed. */
  | "tool_missing"
  /** It is installed, but too old for this server or dump. */
  | "tool_too_old"
  /** The configured `env:`, `file:` or URL does not give a usable connection. */
  | "connection_reference"
  /** The database could not be reached or refused us. */
  | "connection_failed"
  /** The source's file or directory is missing or unreadable. */
  | "source_missing"
  /** The source changed while it was read, so there is no consistent copy. */
  | "source_changed"
  /** The dump program failed or was killed. */
  | "dump_failed"
  /** The throw-away place for the restore could not be created, or broke. */
  | "sandbox_failed"
  /** The throw-away place lacks something that the backup needs, such as an extension. */
  | "sandbox_lacks"
  /** The source is larger, or its dump takes longer, than its limits allow. */
  | "limit_exceeded"
  /** A canary's secret can't be read, is too short, or is where it would be seen. */
  | "canary_unusable"
  /** A recipient is not an `age1…` key. */
  | "recipient_invalid"
  /** An identity file contains no usable `AGE-SECRET-KEY-1…`. */
  | "identity_invalid"
  /** The ciphertext is not encrypted to any available identity. */
  | "identity_missing"
  /** Another agent made the backup, and config.yaml does not say that this one tests for it. */
  | "maker_not_trusted"
  /**
   * The maker's signed receipt of the backup could not be fetched, so nobody knows what the backup
   * is.
   */
  | "receipt_missing"
  /**
   * The service's answer is not the maker's receipt of this backup, in this log, by a key that is
   * trusted here.
   */
  | "receipt_invalid"
  /** The service's record of the backup contradicts what its maker signed. */
  | "record_mismatch"
  /** The backup is of a source with another name than the one that was asked for. */
  | "source_mismatch"
  /** The backup is of another database than the one that is pinned under its source's name. */
  | "identity_changed"
  /** The log did not decide which backup to test, or not in a way that anybody could check. */
  | "draw_unavailable"
  /** The ciphertext could not be read or downloaded. */
  | "ciphertext_unavailable"
  /** The output of a restore could not be written. */
  | "output_unwritable";

/**
 * @see RunErrorCode. The message says what happened, to what, and what to do next; it contains no
 * secret and no row.
 */
export class RunError extends Error {
  readonly code: RunErrorCode;
  constructor(code: RunErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RunError";
    this.code = code;
  }
}

/** Throws `interrupted` if the signal has fired. */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new RunError("interrupted", "interrupted");
}
