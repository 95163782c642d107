export type UserErrorCode =
  | "invalid_setting"
  | "data_directory"
  | "data_directory_in_use"
  | "database_unusable"
  | "postgres_missing"
  | "postgres_version"
  | "key_file"
  | "key_token"
  /** The token refused the PIN. Trying again and again would lock the token. */
  | "key_token_pin"
  | "certificate"
  | "listen_failed"
  | "invalid_argument"
  /** A backup of the service itself. */
  | "backup_failed";

/**
 * Something that the person who runs the service can fix: only its message is printed, with exit
 * code 2. Any other error is a defect of ours, and keeps its stack for the log.
 */
export class UserError extends Error {
  readonly code: UserErrorCode;

  constructor(code: UserErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UserError";
    this.code = code;
  }
}
