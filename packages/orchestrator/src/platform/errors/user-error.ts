import { UserError as HostUserError } from "@attestore/host/user-error";

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

/** With the codes of this program. */
export class UserError extends HostUserError<UserErrorCode> {}
