import { MAX_PASSKEYS, newId, RECENT_SIGN_IN_S } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import type { UserPrincipal } from "../../platform/http/route/principal.ts";
import { endSessionsOfPerson } from "../sessions/end-sessions.ts";
import { setSignedInWithPasskey } from "../sessions/store.ts";
import type { NewCredential } from "./ceremonies.ts";
import { mailPasskeyNotice, type NoticeDeps } from "./notices.ts";
import { forgetPasskeys, hasPasskey, lockOwner } from "./owners.ts";
import { makeRecoveryCodes } from "./recovery-codes.ts";
import { deletePasskey, insertPasskey, listPasskeys, type Passkey } from "./store.ts";

/**
 * Refuses to change how somebody signs in if the session is not new, because it may be stolen, or
 * if it was begun by a mailed code alone before the person had a passkey. Throws `sign_in_again`.
 */
export async function requireRecentSignIn(tx: DatabaseTransaction, principal: UserPrincipal): Promise<void> {
  const { at, with: how } = principal.signedIn;
  const isRecent = Date.now() - at.getTime() <= RECENT_SIGN_IN_S * 1000;
  if (isRecent && (how !== "email_code" || !(await hasPasskey(tx, principal.email)))) return;
  throw new ApiError(
    "sign_in_again",
    "Passkeys and recovery codes can be changed within 10 minutes of signing in. Sign out, sign in again, and retry.",
  );
}

/** Throws `conflict` if the person has the most passkeys allowed. */
export async function requireRoom(passkeys: readonly Passkey[]): Promise<void> {
  if (passkeys.length < MAX_PASSKEYS) return;
  throw new ApiError("conflict", `A person can have at most ${MAX_PASSKEYS} passkeys. Remove one first.`);
}

/**
 * The first passkey comes with recovery codes. Throws `sign_in_again`, `conflict` and
 * `already_exists`.
 */
export async function addPasskey(
  tx: DatabaseTransaction,
  deps: NoticeDeps,
  principal: UserPrincipal,
  added: NewCredential & { name: string; transports: string[] },
): Promise<{ passkey: Passkey; recoveryCodes: string[] | null }> {
  const { email } = await lockOwner(tx, principal.email);
  await requireRecentSignIn(tx, principal);
  const before = await listPasskeys(tx, email);
  await requireRoom(before);
  const passkey = await insertPasskey(tx, {
    id: newId("passkey"),
    email,
    credential_id: added.id,
    public_key: added.publicKey,
    counter: added.counter,
    transports: added.transports,
    synced: added.synced,
    name: added.name,
  });
  if (passkey === null) throw new ApiError("already_exists", "This passkey was already added.");
  await setSignedInWithPasskey(tx, principal.credential);
  await mailPasskeyNotice(tx, deps, principal.email, { is: "added" });
  return { passkey, recoveryCodes: before.length === 0 ? await makeRecoveryCodes(tx, email) : null };
}

/**
 * The person's other sessions end, because the passkey may have begun one of them. Throws
 * `sign_in_again`, `not_found` and `conflict`.
 */
export async function removePasskey(
  tx: DatabaseTransaction,
  deps: NoticeDeps,
  principal: UserPrincipal,
  id: string,
): Promise<Passkey> {
  const { email } = await lockOwner(tx, principal.email);
  await requireRecentSignIn(tx, principal);
  const removed = await deletePasskey(tx, { id, email });
  if (removed === null) throw notFound("passkey");
  const left = (await listPasskeys(tx, email)).length;
  if (left === 0 && principal.role === "operator")
    throw new ApiError("conflict", "An operator needs at least one passkey. Add another one first.");
  if (left === 0) await forgetPasskeys(tx, email);
  await endSessionsOfPerson(tx, email, principal.credential);
  await mailPasskeyNotice(tx, deps, principal.email, { is: "removed", left });
  return removed;
}

/** Throws `sign_in_again`, and `conflict` if the person has no passkey. */
export async function renewRecoveryCodes(
  tx: DatabaseTransaction,
  deps: NoticeDeps,
  principal: UserPrincipal,
): Promise<string[]> {
  const { email } = await lockOwner(tx, principal.email);
  await requireRecentSignIn(tx, principal);
  if (!(await hasPasskey(tx, email)))
    throw new ApiError("conflict", "Recovery codes need a passkey. Add a passkey first.");
  await mailPasskeyNotice(tx, deps, principal.email, { is: "codes_made" });
  return makeRecoveryCodes(tx, email);
}
