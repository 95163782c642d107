import type { FastifyRequest } from "fastify";
import type { Database } from "../../database/schema.ts";
import { type AgentCredentials, assertActive } from "./agent-credentials.ts";
import { authenticateAuthKey } from "./auth-key-credentials.ts";
import { bearerOf, credentialHash, unauthenticated } from "./bearer.ts";
import { assertLive, lookUpSession } from "./session-credentials.ts";
import { assertOwnOrigin, sessionCookie } from "./session-cookie.ts";
import { type Principal, subjectOf } from "../route/principal.ts";
import type { Route } from "../route/route.ts";
import { isId } from "@attestore/contract";
import { notFound } from "../../errors/api-error.ts";

/**
 * Turns a request's credential into its owner, for the kind of credential that the route accepts.
 * Throws 401 or 403.
 */
export async function authenticate(
  deps: { db: Database; agents: AgentCredentials; origin: string },
  route: Route,
  request: FastifyRequest,
): Promise<Principal> {
  const { state } = request;
  const principal = await findPrincipal(deps, route, request);
  state.principal = principal;
  state.subject = subjectOf(principal);
  return principal;
}

async function findPrincipal(
  deps: { db: Database; agents: AgentCredentials; origin: string },
  route: Route,
  request: FastifyRequest,
): Promise<Principal> {
  const { state } = request;
  const bearer = bearerOf(request.headers.authorization);
  switch (route.credential) {
    case "anonymous":
      return { kind: "anonymous", credential: credentialHash(state.address) };
    case "auth_key":
      return authenticateAuthKey(deps.db, bearer, (subject) => {
        state.subject = subject;
      });
    case "agent": {
      if (bearer === null) throw unauthenticated();
      const known = await (route.mode === "submit"
        ? deps.agents.lookUpRecent(bearer)
        : deps.agents.lookUp(bearer));
      state.subject = subjectOf(known.principal);
      assertActive(known);
      return known.principal;
    }
    case "user":
    case "session": {
      const cookie = request.headers.authorization === undefined ? sessionCookie(request) : null;
      const token = cookie ?? bearer;
      if (token === null) throw unauthenticated();
      const found = await lookUpSession(deps.db, token);
      state.subject = subjectOf(found.principal);
      assertLive(found);
      if (cookie !== null) assertOwnOrigin(request, deps.origin);
      return found.principal;
    }
  }
}

/**
 * The organisation that a person's call is about: the one in the path, or the person's own. Throws
 * `not_found` if the path names another organisation than theirs, whatever their role, so nobody
 * learns which ones exist. Operators reach all of them; the policy says for what.
 */
export async function orgOfCall(
  db: Database,
  principal: Principal,
  request: FastifyRequest,
): Promise<string | null> {
  if (principal.kind === "anonymous") return null;
  if (principal.kind === "agent" || principal.kind === "auth_key") return principal.orgId;
  const named = (request.params as Record<string, string | undefined>)["orgID"];
  if (named === undefined || named === principal.orgId) return principal.orgId;
  if (principal.orgId !== null || !isId("org", named)) throw notFound("organisation");
  const row = await db.selectFrom("orgs").select("id").where("id", "=", named).executeTakeFirst();
  if (row === undefined) throw notFound("organisation");
  return row.id;
}
