import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import type { UserPrincipal } from "../../platform/http/principal.ts";
import { accountsOf, memberByEmail } from "./find-user.ts";
import { listByEmail, setAccepted, setDeclined, type User } from "./store.ts";

/**
 * As whom somebody signs in who has proven that an address is theirs: the operator that they are,
 * or the membership that they used last. Whoever has none accepts the oldest invitation by it;
 * others wait for a yes of their own. Null for nobody.
 */
export async function signInAs(tx: DatabaseTransaction, email: string): Promise<User | null> {
  const [first] = await accountsOf(tx, email);
  if (first === undefined || first.status === "active") return first ?? null;
  return setAccepted(tx, { id: first.id, email: email.toLowerCase() });
}

/** Accepts an invitation to somebody's own address. Throws `not_found` for every other one. */
export async function acceptInvitation(
  tx: DatabaseTransaction,
  principal: UserPrincipal,
  id: string,
): Promise<User> {
  const accepted = await setAccepted(tx, { id, email: principal.email.toLowerCase() });
  if (accepted === null) throw notFound("invitation");
  return accepted;
}

/**
 * Declines an invitation to somebody's own address, as if it had never been. Throws `not_found` for
 * every other one.
 */
export async function declineInvitation(
  tx: DatabaseTransaction,
  principal: UserPrincipal,
  id: string,
): Promise<void> {
  if (!(await setDeclined(tx, { id, email: principal.email.toLowerCase() }))) throw notFound("invitation");
}

/**
 * Invitations to somebody's address that wait. An operator who acts as somebody sees that one's
 * organisation, and nothing else of theirs.
 */
export async function invitationsOf(db: Database, principal: UserPrincipal): Promise<User[]> {
  if (principal.impersonator !== null) return [];
  return (await listByEmail(db, principal.email.toLowerCase())).filter(({ status }) => status === "pending");
}

/** The organisations that somebody belongs to; null, all of them, for an operator. */
export async function orgsOf(db: Database, principal: UserPrincipal): Promise<string[] | null> {
  if (principal.orgId === null) return null;
  if (principal.impersonator !== null) return [principal.orgId];
  const accounts = await listByEmail(db, principal.email.toLowerCase());
  const others = accounts.flatMap(({ status, org_id }) =>
    status === "active" && org_id !== null ? [org_id] : [],
  );
  // The session's own was read before the list, and may have ended since.
  return [principal.orgId, ...others];
}

/** Somebody's membership of another organisation. Throws `not_found`. */
export async function siblingIn(
  tx: DatabaseTransaction,
  principal: UserPrincipal,
  orgId: string,
): Promise<User> {
  const sibling = await memberByEmail(tx, orgId, principal.email);
  if (sibling === null) throw notFound("organisation");
  return sibling;
}
