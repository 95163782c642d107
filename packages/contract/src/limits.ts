/** Largest request body in bytes (contract, section 2). */
export const MAX_BODY_BYTES = 1024 * 1024;
/** The same of a call that takes no credential. */
export const MAX_ANONYMOUS_BODY_BYTES = 8 * 1024;
/** Largest receipt submission in bytes. */
export const MAX_RECEIPT_BYTES = 256 * 1024;
/** How long a presigned upload or download URL is valid. */
export const PRESIGNED_URL_S = 15 * 60;
/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_WINDOW_S = 24 * 3600;
/** The same for `POST /v1/receipts`. */
export const RECEIPT_IDEMPOTENCY_WINDOW_S = 30 * 24 * 3600;
/** The longest that `GET /api/bootstrap/{poll_token}` holds a request. */
export const POLL_HOLD_S = 25;
/** Wrong secrets after which an auth key is burned, and wrong tries after which a one-time code is. */
export const MAX_WRONG_ATTEMPTS = 5;
/** How long an interactive attach and any other one-time code live. */
export const CODE_LIFETIME_S = 15 * 60;
/** Passkeys that one person may have. */
export const MAX_PASSKEYS = 20;
/** Recovery codes that are made at once. */
export const RECOVERY_CODES = 10;
/** How long the challenge of a passkey's ceremony lives. */
export const PASSKEY_CHALLENGE_S = 5 * 60;
/** How long after signing in somebody may change their passkeys and recovery codes. */
export const RECENT_SIGN_IN_S = 10 * 60;
/**
 * What a backup's `source_metadata` may be, as JSON in UTF-8: so many bytes, and so many values in all (members of objects and elements of
 * arrays). The agent keeps its own within 150 KiB.
 */
export const MAX_SOURCE_METADATA_BYTES = 160 * 1024;
export const MAX_SOURCE_METADATA_VALUES = 20_000;
/** The same of an event's `detail`. Two checkpoints that contradict each other have room. */
export const MAX_EVENT_DETAIL_BYTES = 40 * 1024;
export const MAX_EVENT_DETAIL_VALUES = 1000;
/** How long an invitation waits to be accepted. */
export const INVITATION_S = 7 * 24 * 3600;
/** Bytes of JSON after which a page of a list ends, however few records it has. */
export const MAX_PAGE_BYTES = 1024 * 1024;
