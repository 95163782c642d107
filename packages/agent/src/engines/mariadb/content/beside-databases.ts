import { literal, type MariadbSession } from "../connection/session.ts";
import { inList } from "../schema.ts";
import { matchesPattern } from "./held-rights.ts";

const GRANTS = "grants_in_no_dump";
const GRANTS_NOT_SHOWN = "grants_not_shown";
const ACCOUNTS = "accounts_in_no_dump";
const ACCOUNTS_NOT_SHOWN = "accounts_not_shown";
const SERVERS = "servers_in_no_dump";

/** Nobody has to make these anew. */
const OF_SERVER = [
  "",
  "root",
  "PUBLIC",
  "mysql",
  "mariadb.sys",
  "mysql.sys",
  "mysql.session",
  "mysql.infoschema",
];
const OF_OTHERS = "concat(binary user, '@', binary host) <> binary current_user()";

/** On all of a database, whose name is a pattern, and on one table or routine of it. */
const grantsOn = (databases: readonly string[]): string => `
  select distinct 'pattern', db from mysql.db where ${OF_OTHERS}
  union select 'name', db from mysql.tables_priv where ${inList("db", databases)} and ${OF_OTHERS}
  union select 'name', db from mysql.procs_priv where ${inList("db", databases)} and ${OF_OTHERS}`;

const ACCOUNTS_OF_USERS = `select 1 from mysql.user
  where binary user not in (${OF_SERVER.map((name) => `binary ${literal(name)}`).join(", ")}) and ${OF_OTHERS} limit 1`;

/** CREATE SERVER, and CREATE FUNCTION … SONAME. */
const SERVERS_OF_SERVER = "select 1 from mysql.servers union select 1 from mysql.func";

/**
 * The kinds of what a source has beside its databases, which no dump of these has: grants on them,
 * and of a whole server its accounts, the servers that it knows, and functions of libraries. The
 * backup's own account does not count.
 * @throws SessionEnded
 */
export async function kindsBeside(
  session: MariadbSession,
  databases: readonly string[],
  isWholeServer: boolean,
): Promise<readonly string[]> {
  const grants = await session.run(grantsOn(databases));
  const isOnThese = ([how, database = ""]: readonly string[]): boolean =>
    how === "name" || databases.some((each) => matchesPattern(database, each));
  const ofGrants = grants.ok ? (grants.rows.some(isOnThese) ? [GRANTS] : []) : [GRANTS_NOT_SHOWN];
  if (!isWholeServer) return ofGrants;
  const accounts = await session.run(ACCOUNTS_OF_USERS);
  const servers = await session.run(SERVERS_OF_SERVER);
  if (!accounts.ok || !servers.ok) return [...ofGrants, ACCOUNTS_NOT_SHOWN];
  return [
    ...ofGrants,
    ...(accounts.rows.length > 0 ? [ACCOUNTS] : []),
    ...(servers.rows.length > 0 ? [SERVERS] : []),
  ];
}

const TEXTS: Readonly<Record<string, string>> = {
  [GRANTS]: "grants to accounts that no dump has",
  [GRANTS_NOT_SHOWN]: "grants to accounts (in no dump and not shown by the server)",
  [ACCOUNTS]: "accounts that no dump has",
  [ACCOUNTS_NOT_SHOWN]: "accounts and the like (in no dump and not shown by the server)",
  [SERVERS]: "servers or functions of libraries that no dump has",
};

/** What a test says of such a kind; null for any other. */
export function besideText(kind: string): string | null {
  return TEXTS[kind] ?? null;
}
