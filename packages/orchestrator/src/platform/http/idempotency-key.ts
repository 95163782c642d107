import { hash } from "node:crypto";
import { ApiError } from "../errors/api-error.ts";

const ULID = /^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/;
const UUID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/** The value of `Idempotency-Key`, or null without one. Throws 400 if it is neither a ULID nor a UUID. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && (ULID.test(header) || UUID.test(header))) return header.toLowerCase();
  throw new ApiError("invalid_idempotency_key", "Idempotency-Key must be a ULID or a UUID.");
}

/** What a key is unique in: one credential, one method, one path. */
export function idempotencyScope(scope: {
  credential: Buffer;
  method: string;
  path: string;
  key: string;
}): Buffer {
  const text = [scope.credential.toString("hex"), scope.method, scope.path, scope.key].join("\n");
  return hash("sha256", text, "buffer");
}

export function bodyFingerprint(rawBody: Buffer): Buffer {
  return hash("sha256", rawBody, "buffer");
}

/** The same key came before with another body. */
export function keyReused(): ApiError {
  return new ApiError(
    "idempotency_key_reused",
    "This Idempotency-Key was already used with a different body. Use a new key for a different request.",
  );
}

export function keyInProgress(): ApiError {
  return new ApiError(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still running. Repeat this one in a second.",
    {},
    { "retry-after": "1" },
  );
}
