import { AGENT_TOKEN, isId } from "@attestore/contract";
import type { FastifyRequest } from "fastify";
import type { Database } from "../../platform/database/schema.ts";
import { bearerOf, credentialHash, unauthenticated } from "../../platform/http/credentials/bearer.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { subjectOf } from "../../platform/http/route/principal.ts";
import { sessionCookie } from "../../platform/http/credentials/session-cookie.ts";
import { assertLive, lookUpSession } from "../../platform/http/credentials/session-credentials.ts";
import { assertAllowed } from "../../platform/http/route/policy.ts";

/**
 * The log to read. To a reader with an auditor link, a head reveals nothing about times outside of
 * the link's period; leaves and their hashes would.
 */
export type Read = "head" | "leaves";

/**
 * Admits whoever may read this log: anybody if the organisation made it public, otherwise its own
 * agents and the sessions of its people. Without a valid credential a private log looks like one
 * that does not exist, and so does another organisation's with a credential. Throws ApiError
 * `unauthenticated`, `session_expired`, `forbidden`, `not_found`.
 */
export async function requireReader(
  db: Database,
  orgId: string,
  request: FastifyRequest,
  read: Read,
): Promise<{ isPublic: boolean }> {
  if (!isId("org", orgId)) throw notFound("log");
  const { authorization } = request.headers;
  const bearer = bearerOf(authorization);
  const token = bearer !== null && AGENT_TOKEN.test(bearer) ? credentialHash(bearer) : null;
  const row = await db
    .selectNoFrom((access) => [
      access.selectFrom("orgs").select("public_log").where("id", "=", orgId).as("public_log"),
      access
        .selectFrom("agents")
        .select("org_id")
        .where("token_sha256", "=", token)
        .where("status", "=", "active")
        .as("agent_org_id"),
    ])
    .executeTakeFirst();
  if (row?.public_log === true) return { isPublic: true };
  const readable =
    token === null
      ? await orgOfSession(db, request, authorization === undefined ? sessionCookie(request) : bearer, read)
      : row?.agent_org_id;
  if (row === undefined || readable === undefined || readable === null) throw unauthenticated();
  if (readable !== orgId || row.public_log === null) throw notFound("log");
  return { isPublic: false };
}

/**
 * Whose log a person reads. From here on the request counts as theirs: its record names them, and
 * an operator who acts as them is logged.
 */
async function orgOfSession(
  db: Database,
  { state }: FastifyRequest,
  token: string | null,
  read: Read,
): Promise<string | null> {
  if (token === null) return null;
  const found = await lookUpSession(db, token);
  state.subject = subjectOf(found.principal);
  assertLive(found);
  state.principal = found.principal;
  assertAllowed(found.principal, {
    action: "org_log.read",
    mode: "read",
    credential: read === "head" ? "session" : "user",
  });
  return found.principal.orgId;
}
