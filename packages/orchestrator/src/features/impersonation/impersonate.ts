import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Impersonator, UserPrincipal } from "../../platform/http/principal.ts";
import { continueSession, endOne } from "../sessions/continue-session.ts";
import { beginSession, type StartedSession } from "../sessions/start-session.ts";

/** Contract, section 5. */
export const IMPERSONATION_S = 3600;

/** A session that acts as the user, for an hour, and never longer than the operator's own. */
export async function startImpersonation(
  tx: DatabaseTransaction,
  operator: UserPrincipal,
  userId: string,
  reason: string,
): Promise<StartedSession> {
  const inAnHour = Date.now() + IMPERSONATION_S * 1000;
  return beginSession(tx, {
    whose: { userId },
    signedIn: operator.signedIn,
    expiresAt: new Date(Math.min(inAnHour, operator.expiresAt.getTime())),
    operator: { id: operator.id, session: operator.credential, reason },
  });
}

/**
 * Ends the impersonation and gives the operator a session with their own one's end: of that one
 * only the hash is kept. Whoever still has its token may go on with it; signing out of either ends
 * both.
 */
export async function endImpersonation(
  tx: DatabaseTransaction,
  credential: Buffer,
  { id, session }: Impersonator,
): Promise<StartedSession> {
  await endOne(tx, credential);
  return continueSession(tx, { userId: id, session });
}
