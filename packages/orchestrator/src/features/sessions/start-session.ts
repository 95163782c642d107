import { SESSION_LIFETIME_S } from "@attestore/contract";
import type { DatabaseTransaction, SignInMethod } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { newSessionToken } from "../secrets.ts";
import { insertSession, type NewSession } from "./store.ts";

export interface StartedSession {
  token: string;
  /** The absolute end. */
  expiresAt: Date;
}

/** Signs a user in. The token is stored nowhere. */
export async function startSession(
  tx: DatabaseTransaction,
  userId: string,
  how: Exclude<SignInMethod, "auditor_link">,
): Promise<StartedSession> {
  const signedIn = { at: new Date(), with: how };
  return beginSession(tx, { whose: { userId }, expiresAt: inALifetime(), signedIn });
}

/** Signs in a person who opened an auditor link, until the link ends at the latest. */
export async function startLinkSession(
  tx: DatabaseTransaction,
  link: { id: string; expires_at: Date },
): Promise<StartedSession> {
  const expiresAt = new Date(Math.min(inALifetime().getTime(), link.expires_at.getTime()));
  const signedIn = { at: new Date(), with: "auditor_link" } as const;
  return beginSession(tx, { whose: { auditorLinkId: link.id }, expiresAt, signedIn });
}

function inALifetime(): Date {
  return new Date(Date.now() + SESSION_LIFETIME_S * 1000);
}

/**
 * A session that ends at an unusual time: an impersonation, or one that replaces an earlier
 * session.
 */
export async function beginSession(
  tx: DatabaseTransaction,
  session: Omit<NewSession, "tokenSha256">,
): Promise<StartedSession> {
  const token = newSessionToken();
  await insertSession(tx, { ...session, tokenSha256: credentialHash(token) });
  return { token, expiresAt: session.expiresAt };
}
