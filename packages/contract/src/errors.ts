/**
 * Every `error` code of the service and the HTTP status it is answered with (contract, section 2).
 */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_idempotency_key: 400,
  unauthenticated: 401,
  session_expired: 401,
  agent_revoked: 401,
  code_invalid: 401,
  recovery_code_required: 401,
  recovery_code_invalid: 401,
  passkey_invalid: 401,
  auth_key_invalid: 401,
  auth_key_burned: 403,
  forbidden: 403,
  passkey_required: 403,
  sign_in_again: 403,
  attach_denied: 403,
  quota_exceeded: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  already_exists: 409,
  conflict: 409,
  attach_expired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  receipt_signature_invalid: 422,
  statement_invalid: 422,
  statement_mismatch: 422,
  backup_unknown: 422,
  object_missing: 422,
  object_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One place in a request that its schema refuses; `path` is a JSON Pointer (RFC 6901). */
export interface Issue {
  path: string;
  message: string;
}

/** The body of every error response. */
export interface ErrorBody {
  error: ErrorCode;
  message: string;
  request_id: string;
  details: Record<string, unknown>;
}
