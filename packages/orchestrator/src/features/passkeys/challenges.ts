import { randomBytes } from "node:crypto";
import { PASSKEY_CHALLENGE_S } from "@attestore/contract";
import { sql } from "kysely";
import type {
  Database,
  DatabaseTransaction,
  PasskeyChallengesTable,
} from "../../platform/database/schema.ts";

/**
 * A challenge is bound to this: a session for adding a passkey, a browser's attempt for signing in
 * with one.
 */
interface Bound {
  purpose: PasskeyChallengesTable["purpose"];
  /** SHA-256 of the session's token, or of the attempt. */
  to: Buffer;
}

/**
 * A new challenge, which replaces an earlier one of the same session or attempt. 32 random bytes,
 * base64url.
 */
export async function putChallenge(tx: DatabaseTransaction, { purpose, to }: Bound): Promise<string> {
  const fresh = {
    challenge: randomBytes(32).toString("base64url"),
    expires_at: new Date(Date.now() + PASSKEY_CHALLENGE_S * 1000),
  };
  await tx
    .insertInto("passkey_challenges")
    .values({ purpose, bound_sha256: to, ...fresh })
    .onConflict((conflict) => conflict.columns(["purpose", "bound_sha256"]).doUpdateSet(fresh))
    .execute();
  return fresh.challenge;
}

/**
 * Takes the challenge away, so that it can be tried only once. Commit this by itself: otherwise a
 * refusal would bring the challenge back. Null if there is none, or its five minutes are over.
 */
export async function takeChallenge(db: Database, { purpose, to }: Bound): Promise<string | null> {
  const row = await db
    .deleteFrom("passkey_challenges")
    .where("purpose", "=", purpose)
    .where("bound_sha256", "=", to)
    .returning(["challenge", sql<boolean>`expires_at > now()`.as("fresh")])
    .executeTakeFirst();
  return row?.fresh === true ? row.challenge : null;
}
