import { sql } from "kysely";
import type { Database, DatabaseTransaction, SignInMethod } from "../../platform/database/schema.ts";

/** When and how somebody signed in. */
export interface SignIn {
  at: Date;
  with: SignInMethod;
}

export interface NewSession {
  tokenSha256: Buffer;
  /** A user, or the auditor link that was opened. */
  whose: { userId: string } | { auditorLinkId: string };
  expiresAt: Date;
  signedIn: SignIn;
  /** For an impersonation: the operator and their own session. */
  operator?: { id: string; session: Buffer; reason: string };
  /** The session that the operator signed in with, if this one replaces it. */
  continues?: Buffer;
}

export async function insertSession(tx: DatabaseTransaction, session: NewSession): Promise<void> {
  const { tokenSha256, whose, expiresAt, signedIn, operator, continues } = session;
  const now = new Date();
  await tx
    .insertInto("sessions")
    .values({
      token_sha256: tokenSha256,
      user_id: "userId" in whose ? whose.userId : null,
      auditor_link_id: "userId" in whose ? null : whose.auditorLinkId,
      created_at: now,
      last_used_at: now,
      expires_at: expiresAt,
      operator_id: operator?.id ?? null,
      operator_session: operator?.session ?? null,
      reason: operator?.reason ?? null,
      continues: continues ?? null,
      signed_in_at: signedIn.at,
      signed_in_with: signedIn.with,
    })
    .execute();
}

/** The session that a session goes back to: the one that somebody signed in with. */
export async function readOrigin(
  db: Database,
  token: Buffer,
): Promise<{ token: Buffer; expiresAt: Date; signedIn: SignIn }> {
  const row = await db
    .selectFrom("sessions")
    .select(["token_sha256", "continues", "expires_at", "signed_in_at", "signed_in_with"])
    .where("token_sha256", "=", token)
    .executeTakeFirstOrThrow();
  return {
    token: row.continues ?? row.token_sha256,
    expiresAt: row.expires_at,
    signedIn: { at: row.signed_in_at, with: row.signed_in_with },
  };
}

export async function endSession(tx: DatabaseTransaction, token: Buffer): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ ended_at: sql<Date>`now()` })
    .where("token_sha256", "=", token)
    .where("ended_at", "is", null)
    .execute();
}

/** Ends a session and all that replaced it. Impersonations begun with any of them end too. */
export async function endContinued(tx: DatabaseTransaction, origin: Buffer): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ ended_at: sql<Date>`now()` })
    .where((session) => session.or([session("token_sha256", "=", origin), session("continues", "=", origin)]))
    .where("ended_at", "is", null)
    .execute();
}

/** Includes sessions in which somebody acts as the user. */
export async function endAllOfUser(tx: DatabaseTransaction, userId: string): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ ended_at: sql<Date>`now()` })
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .execute();
}

/**
 * Ends a person's sessions in every organisation, by their address in lower case, except the one to
 * keep.
 */
export async function endAllOfPerson(
  tx: DatabaseTransaction,
  email: string,
  keep: Buffer | null,
): Promise<void> {
  let query = tx
    .updateTable("sessions")
    .set({ ended_at: sql<Date>`now()` })
    .where("user_id", "in", (users) =>
      users
        .selectFrom("users")
        .select("id")
        .where(sql`lower(email)`, "=", email),
    )
    .where("ended_at", "is", null);
  if (keep !== null) query = query.where("token_sha256", "<>", keep);
  await query.execute();
}

/** Somebody has just used a passkey in this session. */
export async function setSignedInWithPasskey(tx: DatabaseTransaction, token: Buffer): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ signed_in_with: "passkey" })
    .where("token_sha256", "=", token)
    .execute();
}
