import { hash } from "node:crypto";
import { ApiError } from "../../errors/api-error.ts";

const BEARER = /^Bearer ([!-~]{1,512})$/i;

/**
 * The bearer credential of an Authorization header (RFC 6750 section 2.1), or null if there is
 * none.
 */
export function bearerOf(header: string | undefined): string | null {
  return header === undefined ? null : (BEARER.exec(header)?.[1] ?? null);
}

export function credentialHash(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/** One answer for a missing, a malformed and an unknown credential. */
export function unauthenticated(): ApiError {
  return new ApiError(
    "unauthenticated",
    "This call needs a valid credential: Authorization: Bearer <token>.",
    {},
    { "www-authenticate": "Bearer" },
  );
}
