import { timingSafeEqual } from "node:crypto";
import { AUTH_KEY, MAX_WRONG_ATTEMPTS } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { credentialHash, unauthenticated } from "./bearer.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { AuthKeyPrincipal, Subject } from "../route/principal.ts";

/**
 * Checks an auth key and counts a wrong secret against it (contract, section 6). `attribute` gets
 * the key's record as soon as the public id is known, also for refusals.
 * The count is one UPDATE that commits by itself before the answer is sent: it survives the
 * refusal, a restart, and any number of attempts at once, of which at most five are ever compared.
 */
export async function authenticateAuthKey(
  db: Database,
  bearer: string | null,
  attribute: (subject: Subject) => void,
): Promise<AuthKeyPrincipal> {
  const [, publicId, secret] = AUTH_KEY.exec(bearer ?? "") ?? [];
  if (bearer === null || publicId === undefined || secret === undefined) throw unauthenticated();
  const key = await db
    .selectFrom("auth_keys")
    .select([
      "id",
      "org_id",
      "secret_sha256",
      "wrong_attempts",
      "revoked_at",
      sql<boolean>`expires_at <= now()`.as("expired"),
    ])
    .where("public_id", "=", publicId)
    .executeTakeFirst();
  if (key === undefined) throw authKeyInvalid();
  attribute({ kind: "auth_key", id: key.id, orgId: key.org_id, impersonatorId: null });
  if (key.wrong_attempts >= MAX_WRONG_ATTEMPTS) throw authKeyBurned();
  if (!timingSafeEqual(credentialHash(secret), key.secret_sha256)) throw await countWrongAttempt(db, key.id);
  if (key.revoked_at !== null || key.expired) throw authKeyInvalid();
  return { kind: "auth_key", id: key.id, orgId: key.org_id, credential: credentialHash(bearer) };
}

async function countWrongAttempt(db: Database, id: string): Promise<ApiError> {
  const counted = await db
    .updateTable("auth_keys")
    .set((row) => ({ wrong_attempts: row("wrong_attempts", "+", 1) }))
    .where("id", "=", id)
    .where("wrong_attempts", "<", MAX_WRONG_ATTEMPTS)
    .returning("wrong_attempts")
    .executeTakeFirst();
  return counted !== undefined && counted.wrong_attempts < MAX_WRONG_ATTEMPTS
    ? authKeyInvalid()
    : authKeyBurned();
}

/** One answer for an unknown, wrong, expired, revoked or used-up key. */
export function authKeyInvalid(): ApiError {
  return new ApiError("auth_key_invalid", "This auth key is not valid. Ask an administrator for a new one.");
}

export function authKeyBurned(): ApiError {
  return new ApiError(
    "auth_key_burned",
    "This auth key is burned, because a wrong secret was tried five times. Ask an administrator for a new one.",
  );
}
