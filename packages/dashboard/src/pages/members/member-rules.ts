import type { Schemas } from "@attestore/contract/client";
import type { Role } from "../../api/session.ts";
import { members as text } from "../../text/members.ts";
import { people } from "../../text/people.ts";

export type Member = Schemas["UserRecord"];

/** Why somebody of a role cannot change this member's role or remove them; null where they can. The service decides the same. */
export function reasonAgainst(by: Role, member: Member, all: readonly Member[]): string | null {
  if (by !== "owner" && by !== "admin") return people.onlyManagers;
  if (member.role !== "owner") return null;
  if (by !== "owner") return text.onlyOwners;
  // Whoever was invited to be one owns nothing yet.
  if (member.status === "pending") return null;
  return all.filter(({ role, status }) => role === "owner" && status === "active").length > 1
    ? null
    : text.lastOwner;
}

/** The roles that somebody may give. */
export function givenBy(by: Role): readonly ("owner" | "admin" | "auditor")[] {
  return by === "owner" ? ["owner", "admin", "auditor"] : ["admin", "auditor"];
}
