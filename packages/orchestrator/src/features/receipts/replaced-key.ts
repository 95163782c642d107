import { ApiError } from "../../platform/errors/api-error.ts";
import type { SigningKeyRow } from "../agents/signing-keys.ts";
import { SUBMISSION_WINDOW_MS } from "./submission-window.ts";

/**
 * A replaced key still counts for runs and events that ended before it was replaced, for as long as
 * an agent's spool may hold them back (SUBMISSION_WINDOW_MS). `endedAt` is ISO 8601 in UTC.
 * Throws ApiError `receipt_signature_invalid`.
 */
export function requireFromBefore(
  endedAt: string,
  { replaced_at, retired_at }: NonNullable<SigningKeyRow["replacement"]>,
  now: Date,
): void {
  if (endedAt > replaced_at.toISOString())
    throw new ApiError(
      "receipt_signature_invalid",
      `The envelope is signed with a key that was replaced at ${replaced_at.toISOString()}, before the run or event that it reports.`,
    );
  if (now.getTime() > Math.max(replaced_at.getTime(), retired_at.getTime()) + SUBMISSION_WINDOW_MS)
    throw new ApiError(
      "receipt_signature_invalid",
      `The envelope is signed with a key that was replaced at ${replaced_at.toISOString()}, which is too long ago.`,
    );
}
