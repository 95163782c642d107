import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { beginSession, type StartedSession } from "./start-session.ts";
import { endSession, readOrigin } from "./store.ts";

/**
 * Another token for somebody who is signed in. The absolute end stays, and so does the record of
 * when and how they signed in.
 */
export async function continueSession(
  tx: DatabaseTransaction,
  { userId, session }: { userId: string; session: Buffer },
): Promise<StartedSession> {
  const { token: continues, expiresAt, signedIn } = await readOrigin(tx, session);
  return beginSession(tx, { whose: { userId }, expiresAt, signedIn, continues });
}

export async function endOne(tx: DatabaseTransaction, token: Buffer): Promise<void> {
  await endSession(tx, token);
}
