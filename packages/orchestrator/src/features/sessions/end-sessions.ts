import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { SessionPrincipal } from "../../platform/http/route/principal.ts";
import { endAllOfPerson, endAllOfUser, endContinued, endSession, readOrigin } from "./store.ts";

/**
 * Signs somebody out: ends the session, those that replaced it, and impersonations begun with any
 * of them.
 */
export async function signOut(tx: DatabaseTransaction, principal: SessionPrincipal): Promise<void> {
  const own = (principal.kind === "user" && principal.impersonator?.session) || principal.credential;
  await endSession(tx, principal.credential);
  await endContinued(tx, (await readOrigin(tx, own)).token);
}

/** Ends all sessions of a user, including those in which an operator acts as them. */
export async function endSessionsOf(tx: DatabaseTransaction, userId: string): Promise<void> {
  await endAllOfUser(tx, userId);
}

/** Ends all sessions of a person in every organisation, except `keep` (SHA-256 of its token). */
export async function endSessionsOfPerson(
  tx: DatabaseTransaction,
  email: string,
  keep: Buffer | null,
): Promise<void> {
  await endAllOfPerson(tx, email.toLowerCase(), keep);
}
