import { expect } from "vitest";
import type { Answer } from "./https.ts";

/** The error codes of the contract's section 2 and the status of each. */
export const CONTRACT_ERRORS: Record<string, number> = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_idempotency_key: 400,
  unauthenticated: 401,
  session_expired: 401,
  agent_revoked: 401,
  code_invalid: 401,
  auth_key_invalid: 401,
  recovery_code_required: 401,
  recovery_code_invalid: 401,
  passkey_invalid: 401,
  auth_key_burned: 403,
  forbidden: 403,
  attach_denied: 403,
  passkey_required: 403,
  sign_in_again: 403,
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
};

/** That an answer is one of the contract's errors, by code. */
export function expectError(answer: Answer, ...codes: string[]): void {
  const told = `${answer.status} ${answer.body.toString("utf8").slice(0, 1000)}`;
  expect(answer.status, told).toBeGreaterThanOrEqual(400);
  const { error } = answer.json<{ error: string }>();
  expect(codes, told).toContain(error);
  expect(answer.status, told).toBe(CONTRACT_ERRORS[error]);
}

/** That the answer names the places of the request that its schema refuses. */
export function expectIssues(answer: Answer): void {
  const { details } = answer.json<{ details: { issues?: unknown } }>();
  expect(details.issues, answer.body.toString("utf8")).toEqual(
    expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]),
  );
}

/**
 * Any refusal with a code of the contract at its status: 4xx only, a defect is never an answer to
 * bad input.
 */
export function expectRefusal(answer: Answer, context = ""): void {
  const told = `${context} ${answer.status} ${answer.body.toString("utf8").slice(0, 1000)}`;
  expect(answer.status, told).toBeGreaterThanOrEqual(400);
  expect(answer.status, told).toBeLessThan(500);
  const { error } = answer.json<{ error: string }>();
  expect(CONTRACT_ERRORS[error], told).toBe(answer.status);
}
