import { IMPERSONATION_S } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Impersonator, UserPrincipal } from "../../platform/http/route/principal.ts";
import { continueSession, endOne } from "../sessions/continue-session.ts";
import { beginSession, type StartedSession } from "../sessions/start-session.ts";

/**
 * A session that acts as the user for one hour, but never longer than the operator's own session.
 */
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
 * Ends the impersonation and gives the operator a session that ends when their own one would. Of
 * their own session only the hash is stored; whoever still has its token can keep using it. Signing
 * out of either ends both.
 */
export async function endImpersonation(
  tx: DatabaseTransaction,
  credential: Buffer,
  { id, session }: Impersonator,
): Promise<StartedSession> {
  await endOne(tx, credential);
  return continueSession(tx, { userId: id, session });
}
