import { UserError as HostUserError } from "@attestore/host/user-error";

export type UserErrorCode =
  /** No install root was found, or the named one is not a root. */
  | "root_missing"
  /** The root exists but can't be used: permissions, or not a directory. */
  | "root_unusable"
  /** It was found, not named, and somebody else may have put it there. */
  | "root_untrusted"
  /** config.yaml is missing or contains a mistake. */
  | "config_invalid"
  /** config.yaml has changed since its change was shown. */
  | "config_changed"
  /** Another process works on this root. */
  | "locked"
  | "not_attached"
  | "already_attached"
  /** A file below keys/ is missing, unreadable or invalid. */
  | "key_file"
  /** The process that holds the keys does not answer, or refuses. */
  | "signer"
  /** A flag, or the ATTESTORE_* variable in its place, is missing or invalid. */
  | "usage"
  | "source_unknown"
  /** There is no backup that the restore test could take. */
  | "backup_unknown"
  /** The database for a restore is not fit for that. */
  | "target_unusable"
  /** config.yaml does not let the service's people add anything. */
  | "remote_config_off"
  /** The request over the service is not offered, too old, or already carried out. */
  | "request_refused"
  /** Receipts were signed for a moment that is still to come. */
  | "clock_ahead"
  /**
   * The log showed something that it must never show; nothing is signed until a person has looked.
   */
  | "log_alarm";

/** With the codes of this program. */
export class UserError extends HostUserError<UserErrorCode> {}
