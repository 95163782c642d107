import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/bearer.ts";
import { SESSION_LIFETIME_S } from "../../platform/http/session-credentials.ts";
import { newSessionToken } from "../secrets.ts";
import { insertSession, type NewSession } from "./store.ts";

export interface StartedSession {
  token: string;
  /** The absolute end. */
  expiresAt: Date;
}

/** Signs a user in. The token is nowhere else. */
export async function startSession(tx: DatabaseTransaction, userId: string): Promise<StartedSession> {
  return beginSession(tx, { userId, expiresAt: new Date(Date.now() + SESSION_LIFETIME_S * 1000) });
}

/** A session with another end than usual: of an impersonation, or in the place of an earlier one. */
export async function beginSession(
  tx: DatabaseTransaction,
  session: Omit<NewSession, "tokenSha256">,
): Promise<StartedSession> {
  const token = newSessionToken();
  await insertSession(tx, { ...session, tokenSha256: credentialHash(token) });
  return { token, expiresAt: session.expiresAt };
}
