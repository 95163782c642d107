import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/bearer.ts";
import { SESSION_LIFETIME_S } from "../../platform/http/session-credentials.ts";
import { newSessionToken } from "../secrets.ts";

export interface StartedSession {
  token: string;
  /** The absolute end. */
  expiresAt: Date;
}

/** Signs a user in. The token is nowhere else. */
export async function startSession(tx: DatabaseTransaction, userId: string): Promise<StartedSession> {
  const token = newSessionToken();
  const now = new Date();
  const expiresAt = new Date(now.getTime() + SESSION_LIFETIME_S * 1000);
  await tx
    .insertInto("sessions")
    .values({
      token_sha256: credentialHash(token),
      user_id: userId,
      created_at: now,
      last_used_at: now,
      expires_at: expiresAt,
    })
    .execute();
  return { token, expiresAt };
}
