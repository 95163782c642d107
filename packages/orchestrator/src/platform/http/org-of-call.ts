import { isId } from "@attestore/contract";
import type { FastifyRequest } from "fastify";
import type { Database } from "../database/schema.ts";
import { notFound } from "../errors/api-error.ts";
import type { Principal } from "./principal.ts";

/**
 * The organisation that a person's call is about: the path's, or the person's own. Throws `not_found` for a path that names another
 * organisation than theirs, whatever their role, so that nobody learns which ones there are. Operators reach all of them;
 * the policy says for what.
 */
export async function orgOfCall(
  db: Database,
  principal: Principal,
  request: FastifyRequest,
): Promise<string | null> {
  if (principal.kind === "anonymous") return null;
  if (principal.kind !== "user") return principal.orgId;
  const named = (request.params as Record<string, string | undefined>)["orgID"];
  if (named === undefined || named === principal.orgId) return principal.orgId;
  if (principal.orgId !== null || !isId("org", named)) throw notFound("organisation");
  const row = await db.selectFrom("orgs").select("id").where("id", "=", named).executeTakeFirst();
  if (row === undefined) throw notFound("organisation");
  return row.id;
}
