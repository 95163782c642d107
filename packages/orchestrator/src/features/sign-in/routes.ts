import {
  CODE_LIFETIME_S,
  CodeSent,
  LoginRequest,
  Me,
  SessionStarted,
  SignedOut,
  VerifyRequest,
} from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { unauthenticated } from "../../platform/http/credentials/bearer.ts";
import { type Route, readRoute, writeRoute } from "../../platform/http/route/route.ts";
import { CLEAR_SESSION_COOKIE } from "../../platform/http/credentials/session-cookie.ts";
import { queueMail } from "../../platform/mail/outbox.ts";
import {
  codeInvalid,
  issueCode,
  useCode,
  countWrongCode,
  countWrongRecoveryCode,
} from "../one-time-codes/codes.ts";
import type { NoticeDeps } from "../passkeys/notices.ts";
import { recoveryHash } from "../passkeys/recovery-codes.ts";
import { requireSecondFactor } from "../passkeys/second-factor.ts";
import { orgRecord } from "../orgs/require-org.ts";
import { accountsOf, userRecord } from "../users/find-user.ts";
import { signInAs } from "../users/memberships.ts";
import { signOut } from "../sessions/end-sessions.ts";
import { readerRecord } from "../auditor-links/reader.ts";
import { sessionAnswer } from "./session-answer.ts";
import { startSession } from "../sessions/start-session.ts";
import { needsPasskey } from "../../platform/http/route/policy.ts";

export function sessionRoutes(db: Database, deps: NoticeDeps): Route[] {
  const { sealer } = deps;
  const login = writeRoute({
    method: "POST",
    path: "/api/auth/login",
    summary: "Ask for a login code by mail",
    action: "session.start",
    credential: "anonymous",
    body: LoginRequest,
    answers: { 202: CodeSent },
    rateLimits: ["login_address", "login_email", "login_mailbox"],
    async prepare({ body, countAgainst }) {
      await countAgainst("login_email", body.email);
      await countAgainst("login_mailbox", body.email);
    },
    // An unknown address causes the same work, and the mail that is queued goes to nobody.
    async handle({ body, address }, tx) {
      const [user] = await accountsOf(tx, body.email);
      const { code, expiresAt } = await issueCode(tx, { purpose: "login", ...body, address });
      const mail = { to: user?.email ?? null, subject: "Your Attestore login code", text: loginText(code) };
      await queueMail(tx, sealer, mail, expiresAt);
      return { status: 202, body: { status: "code_sent", expires_in_s: CODE_LIFETIME_S } };
    },
  });

  const verify = writeRoute({
    method: "POST",
    path: "/api/auth/verify",
    summary: "Exchange a login code for a session; a person with a passkey also needs a recovery code",
    action: "session.start",
    credential: "anonymous",
    body: VerifyRequest,
    answers: { 200: SessionStarted },
    errors: ["code_invalid", "recovery_code_required", "recovery_code_invalid"],
    rateLimits: ["verify_address", "verify_email"],
    secret: true,
    async prepare({ body, address, countAgainst }) {
      await countAgainst("verify_email", body.email);
      const tried = { purpose: "login", ...body, address } as const;
      await countWrongCode(db, tried);
      if (body.recovery_code !== undefined)
        await countWrongRecoveryCode(db, tried, recoveryHash(body.email, body.recovery_code));
    },
    async handle({ body, address }, tx) {
      await useCode(tx, { purpose: "login", ...body, address });
      const how = await requireSecondFactor(tx, deps, body);
      const user = await signInAs(tx, body.email);
      if (user === null) throw codeInvalid();
      return sessionAnswer(tx, user, await startSession(tx, user.id, how));
    },
  });

  const me = readRoute({
    method: "GET",
    path: "/api/auth/me",
    summary: "The user who is signed in, their organisation, and the operator who acts as them",
    action: "session.read",
    credential: "session",
    answers: { 200: Me },
    rateLimits: ["default"],
    async handle({ principal }) {
      const { id, orgId } = principal;
      const passkey_required = needsPasskey(principal);
      const org = await orgRecord(db, orgId);
      if (principal.kind === "auditor_link") {
        const { link: auditor_link, reader: user } = await readerRecord(db, id);
        return { status: 200, body: { user, org, impersonated_by: null, auditor_link, passkey_required } };
      }
      const user = await userRecord(db, id);
      // Removed since the session was looked up.
      if (user === null) throw unauthenticated();
      const { impersonator } = principal;
      const impersonated_by = impersonator === null ? null : await userRecord(db, impersonator.id);
      return { status: 200, body: { user, org, impersonated_by, auditor_link: null, passkey_required } };
    },
  });

  const logout = writeRoute({
    method: "POST",
    path: "/api/auth/logout",
    summary: "Sign out; an impersonation and the operator's own session end together",
    action: "session.end",
    beyondOrg: true,
    credential: "session",
    answers: { 200: SignedOut },
    rateLimits: ["default"],
    async handle({ principal }, tx) {
      await signOut(tx, principal);
      return { status: 200, headers: { "set-cookie": CLEAR_SESSION_COOKIE }, body: { status: "signed_out" } };
    },
  });

  return [login, verify, me, logout];
}

const loginText = (code: string): string => `Your code to sign in to Attestore:

    ${code}

Enter it within 15 minutes. It works once, and only the newest code works.
If you did not ask for it, somebody else entered your address. Ignore this mail, and do not give the code to anybody.
`;
