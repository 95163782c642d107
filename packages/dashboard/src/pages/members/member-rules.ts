import type { Schemas } from "@attestore/contract/client";
import type { Role } from "../../api/session.ts";
import { members as text } from "../../text/members.ts";
import { people } from "../../text/people.ts";

export type Member = Schemas["UserRecord"];

/**
 * Why a user with this role cannot change or remove this member; null if they can. The service
 * enforces the same rule.
 */
export function reasonAgainst(by: Role, member: Member, all: readonly Member[]): string | null {
  if (by !== "owner" && by !== "admin") return people.onlyManagers;
  if (member.role !== "owner") return null;
  if (by !== "owner") return text.onlyOwners;
  // An invited owner who has not accepted does not count as an owner.
  if (member.status === "pending") return null;
  return all.filter(({ role, status }) => role === "owner" && status === "active").length > 1
    ? null
    : text.lastOwner;
}

/** The roles that a user may assign. */
export function givenBy(by: Role): readonly ("owner" | "admin" | "auditor")[] {
  return by === "owner" ? ["owner", "admin", "auditor"] : ["admin", "auditor"];
}
