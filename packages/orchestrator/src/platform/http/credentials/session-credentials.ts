import { SESSION_IDLE_S, SESSION_TOKEN } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { credentialHash, unauthenticated } from "./bearer.ts";
import { ApiError } from "../../errors/api-error.ts";
import type {
  AuditorLinkPrincipal,
  Impersonator,
  SessionPrincipal,
  UserPrincipal,
  UserRole,
} from "../route/principal.ts";

/** A use is recorded at most this often, which is often enough for an idle time of hours. */
const TOUCH_S = 60;

/**
 * Carries the session's token for the dashboard. `__Host-` keeps other hosts and plain HTTP from
 * setting it (RFC 6265bis section 4.1.3.2).
 */
export const SESSION_COOKIE = "__Host-attestore_session";

/** A session joined with its person, link, and operator's own session. */
const IS_LIVE = sql<boolean>`session.ended_at is null and session.expires_at > now()
  and session.last_used_at > now() - make_interval(secs => ${SESSION_IDLE_S}::int)
  and person.removed_at is null
  and (link.id is null or (link.revoked_at is null and link.expires_at > now()))
  and (session.operator_session is null
    or (own.ended_at is null and own.expires_at > now() and operator.removed_at is null))`;

interface Found {
  principal: SessionPrincipal;
  live: boolean;
}

/**
 * Whose session a token belongs to, and whether it is still valid: not signed out, within its idle
 * and absolute lifetime, and its user not removed. For an impersonation the operator's own session
 * must be valid too, and an auditor link must be neither revoked nor expired. Asks the database
 * each time, so signing out takes effect on every replica at once. Throws `unauthenticated` for an
 * unknown token.
 */
export async function lookUpSession(db: Database, token: string): Promise<Found> {
  if (!SESSION_TOKEN.test(token)) throw unauthenticated();
  const { untouched, ...found } = await findSession(db, credentialHash(token));
  if (found.live && untouched) await touch(db, found.principal.credential);
  return found;
}

/**
 * Who now owns a session that was looked up before. Throws what the look-up throws, and
 * `session_expired`.
 */
export async function requireSession(db: Database, credential: Buffer): Promise<SessionPrincipal> {
  const found = await findSession(db, credential);
  assertLive(found);
  return found.principal;
}

async function findSession(db: Database, credential: Buffer): Promise<Found & { untouched: boolean }> {
  const row = await db
    .selectFrom("sessions as session")
    .leftJoin("users as person", "person.id", "session.user_id")
    .leftJoin("auditor_links as link", "link.id", "session.auditor_link_id")
    .leftJoin("sessions as own", "own.token_sha256", "session.operator_session")
    .leftJoin("users as operator", "operator.id", "session.operator_id")
    .where("session.token_sha256", "=", credential)
    .select([
      "person.id",
      "person.org_id",
      "person.role",
      "person.email",
      "person.name",
      "session.expires_at",
      "session.reason",
      "session.operator_session",
      "session.signed_in_at",
      "session.signed_in_with",
      "operator.id as operator_id",
      "operator.email as operator_email",
      "operator.name as operator_name",
      "link.id as link_id",
      "link.org_id as link_org_id",
      "link.period_from",
      "link.period_to",
    ])
    .select(IS_LIVE.as("live"))
    .select(
      sql<boolean>`session.last_used_at < now() - make_interval(secs => ${TOUCH_S}::int)`.as("untouched"),
    )
    .executeTakeFirst();
  if (row === undefined) throw unauthenticated();
  const { live, untouched } = row;
  const session = { credential, expiresAt: row.expires_at };
  const link = linkOf(row);
  const signedIn = { at: row.signed_in_at, with: row.signed_in_with };
  const principal: SessionPrincipal =
    link === null
      ? { kind: "user", ...session, signedIn, ...personOf(row) }
      : { kind: "auditor_link", ...session, ...link };
  return { principal, live, untouched };
}

/** Null if the session does not come from an auditor link. */
function linkOf(row: {
  link_id: string | null;
  link_org_id: string | null;
  period_from: Date | null;
  period_to: Date | null;
}): Pick<AuditorLinkPrincipal, "id" | "orgId" | "within"> | null {
  const { link_id: id, link_org_id: orgId, period_from: from, period_to: to } = row;
  if (id === null || orgId === null || from === null || to === null) return null;
  return { id, orgId, within: { from, to } };
}

function personOf(
  row: {
    id: string | null;
    org_id: string | null;
    role: UserRole | null;
    email: string | null;
    name: string | null;
  } & Parameters<typeof impersonatorOf>[0],
): Pick<UserPrincipal, "id" | "orgId" | "role" | "email" | "name" | "impersonator"> {
  const { id, role, email } = row;
  if (id === null || role === null || email === null) throw new Error("a session belongs to nobody");
  return {
    id,
    orgId: row.org_id,
    role,
    email,
    name: row.name,
    impersonator: impersonatorOf(row),
  };
}

/**
 * Which of these sessions (SHA-256 of their tokens, base64) are still valid. Asking does not count
 * as use and does not keep them alive.
 */
export async function liveSessions(db: Database, credentials: readonly Buffer[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("sessions as session")
    .leftJoin("users as person", "person.id", "session.user_id")
    .leftJoin("auditor_links as link", "link.id", "session.auditor_link_id")
    .leftJoin("sessions as own", "own.token_sha256", "session.operator_session")
    .leftJoin("users as operator", "operator.id", "session.operator_id")
    .where("session.token_sha256", "in", credentials)
    .where(IS_LIVE)
    .select("session.token_sha256")
    .execute();
  return new Set(rows.map(({ token_sha256 }) => token_sha256.toString("base64")));
}

/** Throws 401 `session_expired` for a session that is over. */
export function assertLive({ live }: Found): void {
  if (!live)
    throw new ApiError(
      "session_expired",
      "The session has ended: it expired or was signed out. Sign in again.",
    );
}

async function touch(db: Database, credential: Buffer): Promise<void> {
  await db
    .updateTable("sessions")
    .set({ last_used_at: sql<Date>`now()` })
    .where("token_sha256", "=", credential)
    .execute();
}

function impersonatorOf(row: {
  operator_id: string | null;
  operator_email: string | null;
  operator_name: string | null;
  operator_session: Buffer | null;
  reason: string | null;
}): Impersonator | null {
  const { operator_id: id, operator_email: email, operator_session: session, reason } = row;
  if (id === null || email === null || session === null || reason === null) return null;
  return { id, email, name: row.operator_name, session, reason };
}
