import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import type { UserPrincipal } from "../../platform/http/route/principal.ts";
import { accountsOf, memberByEmail } from "./find-user.ts";
import { listByEmail, setAccepted, setDeclined, type User } from "./store.ts";

/**
 * As whom somebody signs in who has proven that they own an address: as operator, or with the
 * membership that they used last. If they have none, this accepts their oldest invitation; any
 * others wait until they accept them. Null if there is nothing.
 */
export async function signInAs(tx: DatabaseTransaction, email: string): Promise<User | null> {
  const [first] = await accountsOf(tx, email);
  if (first === undefined || first.status === "active") return first ?? null;
  return setAccepted(tx, { id: first.id, email: email.toLowerCase() });
}

/** Accepts an invitation to somebody's own address. Throws `not_found` for any other. */
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
 * Declines an invitation to somebody's own address, as if it had never been sent. Throws
 * `not_found` for any other.
 */
export async function declineInvitation(
  tx: DatabaseTransaction,
  principal: UserPrincipal,
  id: string,
): Promise<void> {
  if (!(await setDeclined(tx, { id, email: principal.email.toLowerCase() }))) throw notFound("invitation");
}

/**
 * Pending invitations to somebody's address. An operator who acts as somebody sees that
 * organisation, and none of the person's others.
 */
export async function invitationsOf(db: Database, principal: UserPrincipal): Promise<User[]> {
  if (principal.impersonator !== null) return [];
  return (await listByEmail(db, principal.email.toLowerCase())).filter(({ status }) => status === "pending");
}

/** The organisations that somebody belongs to; null, which means all, for an operator. */
export async function orgsOf(db: Database, principal: UserPrincipal): Promise<string[] | null> {
  if (principal.orgId === null) return null;
  if (principal.impersonator !== null) return [principal.orgId];
  const accounts = await listByEmail(db, principal.email.toLowerCase());
  const others = accounts.flatMap(({ status, org_id }) =>
    status === "active" && org_id !== null ? [org_id] : [],
  );
  // The session's own membership was read before the list, and may have ended since.
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
