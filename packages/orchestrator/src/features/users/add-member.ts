import type { OrgRole } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { forgetFormerPasskeys } from "../passkeys/owners.ts";
import { assertEmailAddress } from "./email-address.ts";
import { addUser } from "./invite-user.ts";
import type { User } from "./store.ts";

/**
 * Makes somebody a member at once: whoever is at the service's console vouches for them. They sign
 * in with a code that is mailed to their address, so it still has to be theirs. Throws
 * `invalid_request` and `already_exists`.
 */
export async function addMember(
  tx: DatabaseTransaction,
  member: { orgId: string; email: string; role: OrgRole; name: string | null },
): Promise<User> {
  assertEmailAddress(member.email);
  await forgetFormerPasskeys(tx, member.email);
  return addUser(tx, { ...member, status: "active" });
}
