import { AGENT_TOKEN, isId } from "@attestore/contract";
import type { SqlSession, Statement } from "../../log/sql-session.ts";
import { bearerOf, credentialHash, unauthenticated } from "../../platform/http/bearer.ts";
import { notFound } from "../../platform/http/errors.ts";

const ACCESS: Statement = {
  name: "log_access",
  text: `select orgs.public_log,
      (select agents.org_id from agents where token_sha256 = $2 and status = 'active') as agent_org_id
    from (select $1::text as id) as wanted left join orgs on orgs.id = wanted.id`,
};

/**
 * Lets pass whoever may read this log: anybody if the organisation made it public, else its own agents. Without a valid credential a
 * private log and one that does not exist look the same, and so they do with one of another organisation. Throws ApiError
 * `unauthenticated`, `not_found`.
 */
export async function requireReader(
  session: SqlSession,
  orgId: string,
  authorization: string | undefined,
): Promise<{ isPublic: boolean }> {
  if (!isId("org", orgId)) throw notFound("log");
  const bearer = bearerOf(authorization);
  const token = bearer !== null && AGENT_TOKEN.test(bearer) ? credentialHash(bearer) : null;
  const [row] = await session.run<{ public_log: boolean | null; agent_org_id: string | null }>(ACCESS, [
    orgId,
    token,
  ]);
  if (row?.public_log === true) return { isPublic: true };
  if (row === undefined || row.agent_org_id === null) throw unauthenticated();
  if (row.agent_org_id !== orgId || row.public_log === null) throw notFound("log");
  return { isPublic: false };
}
