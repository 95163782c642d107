import { fromBase64 } from "./base64.ts";
import { matching, type Shape } from "./json/shape.ts";
import { ProofError } from "./proof-error.ts";

const TYPE_ID = /^[a-z]{2,16}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * Matches a TypeID: prefix, underscore, and 26 characters of lower-case Crockford base32 that hold
 * at most 128 bits.
 */
export function isTypeId(value: unknown, prefix?: string): value is string {
  if (typeof value !== "string" || !TYPE_ID.test(value)) return false;
  return prefix === undefined || value.startsWith(`${prefix}_`);
}

// Databases and the calendar have no year 0.
const TIMESTAMP =
  /^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Matches an RFC 3339 time in UTC with milliseconds and `Z`, and only if that moment exists. */
export function isTimestamp(value: unknown): value is string {
  if (typeof value !== "string" || !TIMESTAMP.test(value)) return false;
  // The pattern has checked everything except the number of days in the month.
  if (value.slice(8, 10) <= "28") return true;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

const SHA256 = /^[0-9a-f]{64}$/;

/** Matches a SHA-256 in lower-case hex. */
export function isSha256(value: unknown): value is string {
  return typeof value === "string" && SHA256.test(value);
}

export const typeId = (prefix: string): Shape =>
  matching((value) => isTypeId(value, prefix), `is not an id of the form ${prefix}_…`);
export const timestamp = matching(
  isTimestamp,
  "is not a UTC time with milliseconds, like 2026-01-31T12:00:00.000Z",
);
export const sha256Hex = matching(isSha256, "is not a SHA-256 in lower-case hex");
export const base64Text = matching(isBase64, "is not padded standard base64");

function isBase64(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    fromBase64(value);
    return true;
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}
