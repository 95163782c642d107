import { errorCode } from "@attestore/host/errno";

/**
 * Why a run came to no result. `failed` is for a run that ended and found the data wrong; this is
 * for everything that kept it from saying so. Both a backup and a restore test throw it.
 */
export type RunErrorCode =
  /** The caller aborted it (Ctrl-C, shutdown). */
  | "interrupted"
  /** A file system filled up. */
  | "disk_full"
  /** A program that the engine needs is not installed. */
  | "tool_missing"
  /** It is installed, but too old for this server or this dump. */
  | "tool_too_old"
  /** The configured `env:`, `file:` or URL does not give a usable connection. */
  | "connection_reference"
  /** The database was not reachable or refused us. */
  | "connection_failed"
  /** The source's file or directory is not there or not readable. */
  | "source_missing"
  /** The source changed while it was read, so that no consistent copy came out. */
  | "source_changed"
  /** The dump program failed or was killed. */
  | "dump_failed"
  /** The throw-away place for the restore could not be made, or broke. */
  | "sandbox_failed"
  /** The throw-away place lacks something that the backup needs, such as an extension. */
  | "sandbox_lacks"
  /** The source is larger, or its dump takes longer, than its limits say. */
  | "limit_exceeded"
  /** The secret of a canary cannot be read, is too short, or stands where it would be seen. */
  | "canary_unusable"
  /** A recipient is not an `age1…` key. */
  | "recipient_invalid"
  /** An identity file holds no usable `AGE-SECRET-KEY-1…`. */
  | "identity_invalid"
  /** The ciphertext is not encrypted to any identity at hand. */
  | "identity_missing"
  /**
   * Another agent made the backup, and config.yaml here does not say that this one tests for it.
   */
  | "maker_not_trusted"
  /**
   * What its maker signed of the backup could not be had, so that nobody knows what the backup is.
   */
  | "receipt_missing"
  /**
   * What the service gave as the maker's receipt is not one of this backup, in this log, by a key
   * that is trusted here.
   */
  | "receipt_invalid"
  /** The service says something else of the backup than its maker signed. */
  | "record_mismatch"
  /** The backup is of a source of another name than the one that it is given for. */
  | "source_mismatch"
  /** The backup is of another database than the one that is pinned under its source's name. */
  | "identity_changed"
  /** The ciphertext could not be read or downloaded. */
  | "ciphertext_unavailable"
  /** The output of a restore could not be written. */
  | "output_unwritable";

/**
 * @see RunErrorCode. The message says what happened, to what, and what to do next; it holds no
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

/**
 * ENOSPC, EDQUOT and EFBIG: three ways in which a file system or a limit says that there is no more
 * room.
 */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
}
