import type { OrgRole } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import type { UserPrincipal } from "../../platform/http/route/principal.ts";
import { lockOrg } from "../orgs/lock-org.ts";
import { endSessionsOf } from "../sessions/end-sessions.ts";
import { countOwners, findUser, setRemoved, updateUser, type User } from "./store.ts";

interface OfOrg {
  by: UserPrincipal;
  orgId: string;
  userId: string;
}

/** Changes a user's role or name. Throws `not_found`, `forbidden` and `conflict`. */
export async function changeUser(
  tx: DatabaseTransaction,
  { by, orgId, userId }: OfOrg,
  change: { role?: OrgRole; name?: string | null },
): Promise<User> {
  const user = await lockUser(tx, orgId, userId);
  if (change.role !== undefined && change.role !== user.role) {
    assertMayGive(by, user.role, change.role);
    if (isOwner(user)) await assertAnotherOwner(tx, orgId);
  }
  return updateUser(tx, user.id, change);
}

/**
 * Removes a user, or withdraws an invitation: their sessions end with it, on every replica. The
 * address is free again. Throws what changing a user throws.
 */
export async function removeUser(tx: DatabaseTransaction, { by, orgId, userId }: OfOrg): Promise<User> {
  const user = await lockUser(tx, orgId, userId);
  assertMayGive(by, user.role, null);
  return remove(tx, orgId, user);
}

/** Ends somebody's own membership, whatever their role. Throws `conflict` for the last owner. */
export async function leaveOrg(tx: DatabaseTransaction, { orgId, userId }: Omit<OfOrg, "by">): Promise<User> {
  return remove(tx, orgId, await lockUser(tx, orgId, userId));
}

async function remove(tx: DatabaseTransaction, orgId: string, user: User): Promise<User> {
  if (isOwner(user)) await assertAnotherOwner(tx, orgId);
  await setRemoved(tx, user.id);
  await endSessionsOf(tx, user.id);
  return user;
}

/** Somebody who was only invited to be an owner owns nothing yet. */
function isOwner({ role, status }: User): boolean {
  return role === "owner" && status === "active";
}

/** Only owners invite, change and remove owners: otherwise an admin could become one. */
export function assertMayGive(by: UserPrincipal, from: User["role"] | null, to: OrgRole | null): void {
  if ((from !== "owner" && to !== "owner") || by.role === "owner" || by.role === "operator") return;
  throw new ApiError("forbidden", "Only an owner can add, change or remove an owner.");
}

/**
 * Locking the organisation's row orders changes of its users: if two owners leave at once, the
 * second one stays.
 */
async function lockUser(tx: DatabaseTransaction, orgId: string, userId: string): Promise<User> {
  await lockOrg(tx, orgId);
  const user = await findUser(tx, userId);
  if (user === null || user.org_id !== orgId) throw notFound("user");
  return user;
}

async function assertAnotherOwner(tx: DatabaseTransaction, orgId: string): Promise<void> {
  if ((await countOwners(tx, orgId)) > 1) return;
  throw new ApiError(
    "conflict",
    "An organisation needs at least one owner. Make somebody else an owner first.",
  );
}
