export type UserErrorCode =
  /** No install root was found, or the one that was named is not one. */
  | "root_missing"
  /** The root is there and can't be used: permissions, not a directory. */
  | "root_unusable"
  /** It was found, not named, and somebody else may have put it there. */
  | "root_untrusted"
  /** config.yaml is missing, or something in it is wrong. */
  | "config_invalid"
  /** config.yaml is not what it was when the change of it was shown. */
  | "config_changed"
  /** Another process works on this root. */
  | "locked"
  | "not_attached"
  | "already_attached"
  /** A file below keys/ is missing, unreadable or not what it should be. */
  | "key_file"
  /** The process that holds the keys does not answer, or does not do that. */
  | "signer"
  /** A flag, or its ATTESTORE_* twin, is missing or makes no sense. */
  | "usage"
  | "source_unknown"
  /** There is no backup that the restore test could take. */
  | "backup_unknown"
  /** Receipts were signed for a moment that is still to come. */
  | "clock_ahead"
  /**
   * The log showed something that it must never show; nothing is signed until a person has looked.
   */
  | "log_alarm";

/**
 * Something that the person at the keyboard can put right: shown as its message alone, exit code 2.
 * A defect of ours is any other error.
 */
export class UserError extends Error {
  readonly code: UserErrorCode;

  constructor(code: UserErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UserError";
    this.code = code;
  }
}
