/** Largest request body in bytes (contract, section 2). */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Largest request body in bytes of a call without a credential. */
export const MAX_ANONYMOUS_BODY_BYTES = 8 * 1024;
/** Largest receipt submission in bytes. */
export const MAX_RECEIPT_BYTES = 256 * 1024;
/** The media type of several submissions in one body: <https://github.com/ndjson/ndjson-spec>. */
export const LINES_TYPE = "application/x-ndjson";
/** Most receipts, and most bytes in all, of one submission of several (application/x-ndjson). */
export const MAX_RECEIPTS_AT_ONCE = 100;
export const MAX_RECEIPTS_AT_ONCE_BYTES = 4 * 1024 * 1024;
/** How long a presigned upload or download URL is valid. */
export const PRESIGNED_URL_S = 15 * 60;
/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_WINDOW_S = 24 * 3600;
/** How long `POST /v1/receipts` remembers an idempotency key. */
export const RECEIPT_IDEMPOTENCY_WINDOW_S = 30 * 24 * 3600;
/** How long `GET /api/bootstrap/{poll_token}` holds a request at most. */
export const POLL_HOLD_S = 25;
/** How long `GET /v1/commands` holds a request at most: most proxies let a minute pass. */
export const COMMAND_WAIT_S = 50;
/** How many wrong secrets burn an auth key, and how many wrong tries burn a one-time code. */
export const MAX_WRONG_ATTEMPTS = 5;
/** How long interactive attaches and one-time codes are valid. */
export const CODE_LIFETIME_S = 15 * 60;
/** How many passkeys one person may have. */
export const MAX_PASSKEYS = 20;
/** How many recovery codes are made at once. */
export const RECOVERY_CODES = 10;
/** How long a passkey challenge is valid. */
export const PASSKEY_CHALLENGE_S = 5 * 60;
/** For how long after signing in a person may change passkeys and recovery codes. */
export const RECENT_SIGN_IN_S = 10 * 60;
/**
 * Limits of a backup's `source_metadata` as JSON in UTF-8: bytes, and values in total (members of
 * objects and elements of arrays). The agent keeps its own within 150 KiB.
 */
export const MAX_SOURCE_METADATA_BYTES = 160 * 1024;
export const MAX_SOURCE_METADATA_VALUES = 20_000;
/** The same limits for an event's `detail`. Two contradictory checkpoints fit. */
export const MAX_EVENT_DETAIL_BYTES = 40 * 1024;
export const MAX_EVENT_DETAIL_VALUES = 1000;
/** A session ends when it was not used for so long, and in any case after the second. */
export const SESSION_IDLE_S = 12 * 3600;
export const SESSION_LIFETIME_S = 7 * 24 * 3600;
/** How long an operator may act as an organisation before they have to give a reason again. */
export const IMPERSONATION_S = 3600;
/** How long an invitation is valid. */
export const INVITATION_S = 7 * 24 * 3600;
/** A page of a list ends after this many bytes of JSON, however few records it has. */
export const MAX_PAGE_BYTES = 1024 * 1024;
