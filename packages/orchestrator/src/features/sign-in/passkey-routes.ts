import {
  PASSKEY_CHALLENGE_S,
  PasskeyOptionsRequest,
  PasskeyVerifyRequest,
  type AssertedCredential,
  RequestOptions,
  SessionStarted,
} from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { type Route, writeRoute } from "../../platform/http/route/route.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { sessionAnswer } from "./session-answer.ts";
import { startSession } from "../sessions/start-session.ts";
import { accountsOf } from "../users/find-user.ts";
import { checkAssertion, passkeyInvalid } from "../passkeys/ceremonies.ts";
import { putChallenge, takeChallenge } from "../passkeys/challenges.ts";
import { mailPasskeyNotice, type NoticeDeps } from "../passkeys/notices.ts";
import { relyingParty } from "../passkeys/relying-party.ts";
import { findByCredential, recordUse } from "../passkeys/store.ts";

/** Signing in with a passkey. Nobody enters an address: the passkey says who they are. */
export function passkeySignInRoutes(db: Database, deps: NoticeDeps): Route[] {
  const options = writeRoute({
    method: "POST",
    path: "/api/auth/passkey/options",
    summary: "What a browser needs to sign in with a passkey: navigator.credentials.get",
    action: "session.start",
    credential: "anonymous",
    body: PasskeyOptionsRequest,
    answers: { 200: RequestOptions },
    errors: ["conflict"],
    rateLimits: ["passkey_address"],
    async handle({ body }, tx) {
      const { id } = relyingParty(deps.publicUrl);
      const challenge = await putChallenge(tx, { purpose: "sign_in", to: boundTo(body.attempt) });
      const asked: RequestOptions = {
        challenge,
        rpId: id,
        timeout: PASSKEY_CHALLENGE_S * 1000,
        userVerification: "required",
      };
      return { status: 200, body: asked };
    },
  });

  const verify = writeRoute({
    method: "POST",
    path: "/api/auth/passkey/verify",
    summary: "Exchange a passkey's signature for a session",
    action: "session.start",
    credential: "anonymous",
    body: PasskeyVerifyRequest,
    answers: { 200: SessionStarted },
    errors: ["passkey_invalid", "conflict"],
    rateLimits: ["passkey_address"],
    secret: true,
    prepare: ({ body, logger }) => whoSigned(db, deps, { ...body, logger }),
    async handle(_call, tx, email) {
      const [user] = await accountsOf(tx, email);
      // An invitation does not prove that this person owned the passkeys of before, so it is
      // accepted by mail.
      if (user?.status !== "active") throw passkeyInvalid();
      return sessionAnswer(tx, user, await startSession(tx, user.id, "passkey"));
    },
  });

  return [options, verify];
}

function boundTo(attempt: string): Buffer {
  return credentialHash(`attempt:${attempt}`);
}

/**
 * The address of the person whose passkey signed. Runs before the transaction: the challenge and
 * the counter are used up in any case.
 */
async function whoSigned(
  db: Database,
  deps: NoticeDeps,
  { attempt, credential, logger }: { attempt: string; credential: AssertedCredential; logger: Logger },
): Promise<string> {
  const party = relyingParty(deps.publicUrl);
  const challenge = await takeChallenge(db, { purpose: "sign_in", to: boundTo(attempt) });
  if (challenge === null) throw passkeyInvalid();
  const passkey = await findByCredential(db, Buffer.from(credential.id, "base64url"));
  if (passkey === null) throw passkeyInvalid();
  const counter = await checkAssertion(credential, passkey, { challenge, party, logger });
  if (await recordUse(db, passkey.id, counter)) return passkey.email;
  logger.warn({ passkey: passkey.id }, "a passkey's counter went back: it may have been copied");
  await db.transaction().execute((tx) => mailPasskeyNotice(tx, deps, passkey.email, { is: "counter_back" }));
  throw new ApiError(
    "passkey_invalid",
    "This passkey was refused: its counter went back, which happens when a passkey was copied. Sign in another way and remove it.",
  );
}
