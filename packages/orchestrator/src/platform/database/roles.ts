import type pg from "pg";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "./client.ts";
import type { ConnectionSettings } from "./connection-settings.ts";

/**
 * The role that the service connects as. It owns nothing, and may only become one of the ways or
 * the tenant.
 */
export const SERVICE_ROLE = "attestore_service";
/** For one organisation at a time: the transaction sets whose rows it sees (http/org-scope.ts). */
export const TENANT_ROLE = "attestore_tenant";
/** Its members have the policies of the tables' owner. */
const OWNER_ROLE = "attestore_owner";

/**
 * The few ways to rows of several organisations, each a role with the tables that it needs
 * (migration 0049): requests whose organisation is not known yet, the log's sequencer, scheduled
 * work, and commands at the machine.
 */
export const WAYS = ["requests", "log", "jobs", "console"] as const;
export type Way = (typeof WAYS)[number];

export function roleOf(way: Way): string {
  return `attestore_${way}`;
}

/** For the service itself; commands at the machine are not among them. */
const OF_SERVICE = [TENANT_ROLE, roleOf("requests"), roleOf("log"), roleOf("jobs")];
const MADE = [SERVICE_ROLE, OWNER_ROLE, TENANT_ROLE, ...WAYS.map(roleOf)];
/** Somebody else made or granted the same at this moment. */
const AT_ONCE = new Set(["42710", "23505", "XX000"]);
const NOT_ALLOWED = "42501";
const STATEMENT_MS = 30_000;

export interface RolesOptions {
  /** The service connects as the owner, and becomes the service's role from there. */
  ownerServes: boolean;
}

/**
 * Creates the roles and their memberships. Roles belong to the server: a dump names them but does
 * not contain them, and another database's service may have made them.
 * @throws UserError `database_unusable` with the statements that a superuser must run, if this role
 * may not create them
 */
export async function ensureRoles(client: pg.ClientBase, { ownerServes }: RolesOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { owner, statements } = await missing(client, ownerServes);
    if (statements.length === 0) return;
    try {
      for (const statement of statements) await client.query(statement);
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (code === NOT_ALLOWED) throw refusal(owner, statements, error);
      if (!AT_ONCE.has(code) || attempt === 20) throw error;
      await delay(50);
    }
  }
}

/** The same on a connection of its own, for a database that is filled from a dump. */
export async function makeRoles(
  connection: ConnectionSettings,
  roles: RolesOptions = { ownerServes: false },
): Promise<void> {
  await withClient(connection, { name: "database", statement_ms: STATEMENT_MS }, (client) =>
    ensureRoles(client, roles),
  );
}

/**
 * Lets the service's role connect by itself: for the embedded database, where the kernel decides
 * who may.
 */
export async function letServiceIn(connection: ConnectionSettings): Promise<void> {
  await withClient(connection, { name: "migrate", statement_ms: STATEMENT_MS }, (client) =>
    client.query(`alter role ${SERVICE_ROLE} login`),
  );
}

async function missing(
  client: pg.ClientBase,
  ownerServes: boolean,
): Promise<{ owner: string; statements: string[] }> {
  const { rows } = await client.query<{
    owner: string;
    is_superuser: boolean;
    known: string[];
    members: string[];
  }>(
    `select quote_ident(current_user) as owner, current_setting('is_superuser')::boolean as is_superuser,
      array(select rolname::text from pg_roles where rolname = any($1)) as known,
      array(select granted.rolname::text from pg_auth_members
        join pg_roles as granted on granted.oid = roleid join pg_roles as to_whom on to_whom.oid = member
        where to_whom.rolname = $2) as members`,
    [MADE, SERVICE_ROLE],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a query without tables returned no row");
  const made = MADE.filter((name) => !row.known.includes(name));
  const ofService = OF_SERVICE.filter((name) => !row.members.includes(name));
  const ofOwner: string[] = [];
  const wanted = row.is_superuser
    ? []
    : [OWNER_ROLE, TENANT_ROLE, roleOf("console"), ...(ownerServes ? [SERVICE_ROLE] : [])];
  for (const name of wanted) if (made.includes(name) || !(await canBecome(client, name))) ofOwner.push(name);
  return {
    owner: row.owner,
    statements: [
      ...made.map((name) => `create role ${name} nologin${name === SERVICE_ROLE ? " noinherit" : ""}`),
      ...(ofService.length === 0 ? [] : [`grant ${ofService.join(", ")} to ${SERVICE_ROLE}`]),
      ...(ofOwner.length === 0 ? [] : [`grant ${ofOwner.join(", ")} to ${row.owner}`]),
    ],
  };
}

/** Tried out, because since PostgreSQL 16 a membership may lack the right to become the role. */
async function canBecome(client: pg.ClientBase, role: string): Promise<boolean> {
  try {
    await client.query(`set role ${role}`);
    await client.query("set role none");
    return true;
  } catch (error) {
    if (errorCode(error) === NOT_ALLOWED) return false;
    throw error;
  }
}

function refusal(owner: string, statements: readonly string[], cause: unknown): UserError {
  return new UserError(
    "database_unusable",
    `The database's role ${owner} may not create the service's roles. Run this as a superuser of the server, then try again: ${statements.join("; ")};`,
    { cause },
  );
}
