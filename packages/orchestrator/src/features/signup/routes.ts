import {
  CODE_LIFETIME_S,
  CodeSent,
  SessionStarted,
  SignupRequest,
  SignupState,
  SignupVerifyRequest,
} from "@attestore/contract";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";
import { readRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { queueMail } from "../../platform/mail/outbox.ts";
import { codeInvalid, issueCode, useCode, countWrongCode } from "../one-time-codes/codes.ts";
import { hasOperator } from "../operators/store.ts";
import { assertOrgName, createOrg } from "../orgs/create-org.ts";
import { forgetFormerPasskeys } from "../passkeys/owners.ts";
import { sessionAnswer } from "../sign-in/session-answer.ts";
import { startSession } from "../sessions/start-session.ts";
import { accountsOf } from "../users/find-user.ts";
import { addUser } from "../users/invite-user.ts";
import type { User } from "../users/store.ts";
import type { SignupMode } from "./mode.ts";

export interface SignupDeps {
  sealer: Sealer;
  logHost: string;
  publicUrl: string;
  signup: SignupMode;
  /** Whether there is a mail server. */
  hasMail: boolean;
}

/**
 * How people join without an invitation. The mails contain nothing that the person who entered the
 * address could choose.
 */
export function signupRoutes(
  db: Database,
  { sealer, logHost, publicUrl, signup: mode, hasMail }: SignupDeps,
): Route[] {
  const state = readRoute({
    method: "GET",
    path: "/api/auth/signup",
    summary: "Whether anybody may sign up, and whether codes are mailed",
    action: "session.start",
    credential: "anonymous",
    answers: { 200: SignupState },
    rateLimits: ["signup_state"],
    async handle() {
      return { status: 200, body: { open: await isOpen(db, mode), codes: hasMail ? "mail" : "console" } };
    },
  });

  const signup = writeRoute({
    method: "POST",
    path: "/api/auth/signup",
    summary: "Ask for a signup code by mail",
    action: "session.start",
    credential: "anonymous",
    body: SignupRequest,
    answers: { 202: CodeSent },
    errors: ["forbidden"],
    rateLimits: ["signup_address", "signup_email"],
    prepare: ({ body, countAgainst }) => countAgainst("signup_email", body.email),
    // A known address causes the same work; its code is mailed to nobody.
    async handle({ body, address }, tx) {
      await assertOpen(tx, mode);
      assertOrgName(body.org_name, "/org_name");
      const known = await knownAccount(tx, body.email);
      const { email, org_name: orgName, ...attempt } = body;
      const { code, expiresAt } = await issueCode(tx, {
        purpose: "signup",
        email,
        orgName,
        ...attempt,
        address,
      });
      const mail =
        known === undefined
          ? { to: email, subject: "Your Attestore signup code", text: codeText(code) }
          : { to: known.email, subject: "You already have an Attestore account", text: knownText(publicUrl) };
      await queueMail(tx, sealer, mail, expiresAt);
      return { status: 202, body: { status: "code_sent", expires_in_s: CODE_LIFETIME_S } };
    },
  });

  const verify = writeRoute({
    method: "POST",
    path: "/api/auth/signup/verify",
    summary: "Exchange a signup code for an organisation and a session",
    action: "session.start",
    credential: "anonymous",
    body: SignupVerifyRequest,
    answers: { 200: SessionStarted },
    errors: ["code_invalid", "already_exists", "forbidden"],
    rateLimits: ["verify_address", "verify_email"],
    secret: true,
    async prepare({ body, address, countAgainst }) {
      await countAgainst("verify_email", body.email);
      await countWrongCode(db, { purpose: "signup", ...body, address });
    },
    async handle({ body, address }, tx) {
      await assertOpen(tx, mode);
      const { orgName } = await useCode(tx, { purpose: "signup", ...body, address });
      if (orgName === null) throw codeInvalid();
      if ((await knownAccount(tx, body.email)) !== undefined)
        throw new ApiError("already_exists", "You already have an account. Sign in with it.");
      await forgetFormerPasskeys(tx, body.email);
      // A name that others have too is no reason to refuse: that would tell who is here.
      const org = await createOrg(tx, { name: orgName, logHost, anySlug: true });
      await scopeToOrg(tx, org.id);
      const user = await addUser(tx, {
        orgId: org.id,
        email: body.email,
        role: "owner",
        name: null,
        status: "active",
      });
      return sessionAnswer(tx, user, await startSession(tx, user.id, "email_code"));
    },
  });

  return [state, signup, verify];
}

/**
 * A pending invitation is not an account: otherwise, inviting strangers would keep them from
 * signing up.
 */
async function knownAccount(tx: DatabaseTransaction, email: string): Promise<User | undefined> {
  return (await accountsOf(tx, email)).find(({ status }) => status === "active");
}

async function isOpen(db: Database, mode: SignupMode): Promise<boolean> {
  return mode === "open" || (mode === "until-operator" && !(await hasOperator(db)));
}

async function assertOpen(tx: DatabaseTransaction, mode: SignupMode): Promise<void> {
  if (await isOpen(tx, mode)) return;
  throw new ApiError(
    "forbidden",
    "Nobody can sign up here. Ask the owner of your organisation to invite you, or ask the operator of this service to create an organisation.",
  );
}

const codeText = (code: string): string => `Your code to sign up for Attestore:

    ${code}

Enter it within 15 minutes. It works once, and only the newest code works.
If you did not ask for it, somebody else entered your address. Ignore this mail.
`;

const knownText = (
  publicUrl: string,
): string => `Somebody, perhaps you, asked to sign up for Attestore with this address.
The address already has an account. Sign in with it:

    ${publicUrl}/login

If this was not you, ignore this mail. Nothing has changed.
`;
