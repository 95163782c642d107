import type { Database } from "../../platform/database/schema.ts";
import type { Answer } from "../../platform/http/route/answer.ts";
import { setSessionCookie } from "../../platform/http/credentials/session-cookie.ts";
import { orgRecord } from "../orgs/require-org.ts";
import { serializeUser } from "../users/serialize.ts";
import type { User } from "../users/store.ts";
import type { StartedSession } from "../sessions/start-session.ts";

/**
 * The answer of a call that begins a session: the token in the body for programs, and in a cookie
 * for the dashboard.
 */
export async function sessionAnswer(
  db: Database,
  user: User,
  { token, expiresAt }: StartedSession,
): Promise<Answer> {
  return {
    status: 200,
    headers: { "set-cookie": setSessionCookie(token, expiresAt) },
    body: {
      session_token: token,
      expires_at: expiresAt.toISOString(),
      user: serializeUser(user),
      org: await orgRecord(db, user.org_id),
    },
  };
}
