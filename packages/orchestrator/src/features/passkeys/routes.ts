import {
  AddedPasskey,
  AddPasskeyRequest,
  CreationOptions,
  Id,
  MadeRecoveryCodes,
  PASSKEY_CHALLENGE_S,
  PasskeyList,
  PasskeyRecord,
  RenamePasskeyRequest,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Database } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { readRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { ALGORITHMS, checkRegistration, passkeyInvalid } from "./ceremonies.ts";
import {
  addPasskey,
  removePasskey,
  renewRecoveryCodes,
  requireRecentSignIn,
  requireRoom,
} from "./change-passkeys.ts";
import { putChallenge, takeChallenge } from "./challenges.ts";
import type { NoticeDeps } from "./notices.ts";
import { lockOwner } from "./owners.ts";
import { countRecoveryCodes } from "./recovery-codes.ts";
import { relyingParty } from "./relying-party.ts";
import { listPasskeys, type Passkey, renamePasskey } from "./store.ts";

const onePasskey = Type.Object({ passkeyID: Id("passkey") });

/** Calls of people about their own passkeys, whatever organisations they belong to. */
export function passkeyRoutes(db: Database, deps: NoticeDeps): Route[] {
  const list = readRoute({
    method: "GET",
    path: "/api/auth/passkeys",
    summary: "The caller's own passkeys, and how many recovery codes are left",
    action: "passkeys.read",
    credential: "user",
    answers: { 200: PasskeyList },
    errors: ["forbidden"],
    rateLimits: ["default"],
    async handle({ principal: { email, impersonator } }) {
      if (impersonator !== null)
        throw new ApiError(
          "forbidden",
          "An operator who acts as somebody cannot see how that person signs in.",
        );
      const items = (await listPasskeys(db, email)).map(serializePasskey);
      return { status: 200, body: { items, recovery_codes_left: await countRecoveryCodes(db, email) } };
    },
  });

  const options = writeRoute({
    method: "POST",
    path: "/api/auth/passkeys/options",
    summary: "What a browser needs to make a passkey: navigator.credentials.create",
    action: "passkeys.manage",
    beyondOrg: true,
    credential: "user",
    answers: { 200: CreationOptions },
    errors: ["sign_in_again", "conflict"],
    rateLimits: ["default", "passkey_change"],
    async handle({ principal }, tx) {
      const party = relyingParty(deps.publicUrl);
      await requireRecentSignIn(tx, principal);
      const owner = await lockOwner(tx, principal.email);
      const passkeys = await listPasskeys(tx, owner.email);
      await requireRoom(passkeys);
      const asked: CreationOptions = {
        rp: { id: party.id, name: "Attestore" },
        user: {
          id: owner.handle.toString("base64url"),
          name: principal.email,
          displayName: principal.name ?? principal.email,
        },
        challenge: await putChallenge(tx, { purpose: "register", to: principal.credential }),
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
        timeout: PASSKEY_CHALLENGE_S * 1000,
        excludeCredentials: passkeys.map(({ credential_id, transports }) => ({
          type: "public-key",
          id: credential_id.toString("base64url"),
          transports,
        })),
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification: "required",
        },
        attestation: "none",
      };
      return { status: 200, body: asked };
    },
  });

  const add = writeRoute({
    method: "POST",
    path: "/api/auth/passkeys",
    summary: "Add the passkey that the browser made; with the first one come recovery codes",
    action: "passkeys.manage",
    beyondOrg: true,
    credential: "user",
    body: AddPasskeyRequest,
    answers: { 201: AddedPasskey },
    errors: ["sign_in_again", "passkey_invalid", "conflict", "already_exists"],
    bodyLimit: 64 * 1024,
    rateLimits: ["default", "passkey_change"],
    secret: true,
    async prepare({ principal, body, logger }) {
      const party = relyingParty(deps.publicUrl);
      const challenge = await takeChallenge(db, { purpose: "register", to: principal.credential });
      if (challenge === null) throw passkeyInvalid();
      return checkRegistration(body.credential, { challenge, party, logger });
    },
    async handle({ principal, body }, tx, made) {
      const { passkey, recoveryCodes: recovery_codes } = await addPasskey(tx, deps, principal, {
        ...made,
        name: body.name,
        transports: body.credential.response.transports ?? [],
      });
      return { status: 201, body: { passkey: serializePasskey(passkey), recovery_codes } };
    },
  });

  const rename = writeRoute({
    method: "PATCH",
    path: "/api/auth/passkeys/:passkeyID",
    summary: "Rename one of the caller's passkeys",
    action: "passkeys.manage",
    beyondOrg: true,
    credential: "user",
    params: onePasskey,
    body: RenamePasskeyRequest,
    answers: { 200: PasskeyRecord },
    errors: ["not_found"],
    rateLimits: ["default", "passkey_change"],
    async handle({ principal, params, body }, tx) {
      const renamed = await renamePasskey(tx, {
        id: params.passkeyID,
        email: principal.email,
        name: body.name,
      });
      if (renamed === null) throw notFound("passkey");
      return { status: 200, body: serializePasskey(renamed) };
    },
  });

  const remove = writeRoute({
    method: "DELETE",
    path: "/api/auth/passkeys/:passkeyID",
    summary: "Remove one of the caller's passkeys; their other sessions end",
    action: "passkeys.manage",
    beyondOrg: true,
    credential: "user",
    params: onePasskey,
    answers: { 200: PasskeyRecord },
    errors: ["sign_in_again", "not_found", "conflict"],
    rateLimits: ["default", "passkey_change"],
    async handle({ principal, params }, tx) {
      return {
        status: 200,
        body: serializePasskey(await removePasskey(tx, deps, principal, params.passkeyID)),
      };
    },
  });

  const renew = writeRoute({
    method: "POST",
    path: "/api/auth/recovery-codes",
    summary: "Make new recovery codes; the old ones stop working",
    action: "passkeys.manage",
    beyondOrg: true,
    credential: "user",
    answers: { 201: MadeRecoveryCodes },
    errors: ["sign_in_again", "conflict"],
    rateLimits: ["default", "passkey_change"],
    secret: true,
    async handle({ principal }, tx) {
      return { status: 201, body: { recovery_codes: await renewRecoveryCodes(tx, deps, principal) } };
    },
  });

  return [list, options, add, rename, remove, renew];
}

function serializePasskey({ id, created_at, name, last_used_at, synced }: Passkey): PasskeyRecord {
  return {
    id,
    created_at: created_at.toISOString(),
    name,
    last_used_at: last_used_at?.toISOString() ?? null,
    synced,
  };
}
