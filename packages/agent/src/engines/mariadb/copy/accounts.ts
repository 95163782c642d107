import { randomBytes } from "node:crypto";
import { RunError } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { productOf } from "../connection/programs.ts";
import { MariadbSession, quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

/**
 * Fills the restored databases and may do nothing else. Every statement of a dump runs as this
 * account.
 */
export const LOADER = "attestore_load";
/** Reads what was restored. Queries of checks run as this account. */
export const READER = "attestore_read";
/** What definers need, so that a check can read through their views and routines. */
const OF_DEFINERS = "select, execute, show view, create temporary tables";
/** The definer of MariaDB's own views and routines, which views of a dump may read through. */
const OF_SYS = "mariadb.sys";
/**
 * The scratch server's own databases: to be read only if the source has views of them. They contain
 * its accounts, which have no passwords.
 */
export type OwnDatabases = "hidden" | "readable";
const OWN: readonly string[] = [LOADER, READER];

export function openSession(
  server: Pick<ScratchServer, "run">,
  user: string,
  signal: AbortSignal,
): Promise<MariadbSession> {
  return MariadbSession.open(
    (request) => server.run("mariadb", { ...request, args: [`--user=${user}`, ...request.args] }),
    signal,
  );
}

/**
 * Makes the two accounts of a scratch server, and removes every other one. An account
 * that may name the definer of a view or routine can run anything as that definer, so none with
 * more rights may stay. We do our own remaining work in a session that was opened before, and that
 * keeps its rights while it lasts. MySQL looks up the account again each time, so there our account
 * stays under a random name. As a system account it cannot be named as a definer.
 * @throws RunError, SessionEnded
 */
export async function limitAccounts(
  server: ScratchServer,
  signal: AbortSignal,
  own: OwnDatabases = "hidden",
): Promise<MariadbSession> {
  const session = await openSession(server, "root", signal);
  const run = async (sql: string): Promise<readonly (readonly string[])[]> =>
    rowsOf(await session.run(sql), "making the accounts of the scratch server");
  try {
    const { engine_version: version } = server.runtime;
    const isMysql = productOf(version) === "MySQL";
    if (isOlder(version, isMysql ? [8, 0, 16] : [10, 5, 2])) throw tooOld(version);
    const others = await run("select user, host from mysql.user order by user, host");
    for (const user of OWN) await run(`create user ${account(user, "localhost")}`);
    await grant(run, account(LOADER, "localhost"), "all", own);
    await grant(run, account(READER, "localhost"), "select, execute, show view", own);
    await mayNameDefiners(session, isMysql);
    if (!isMysql) {
      await run("set session wait_timeout = 31536000");
      for (const [user = "", host = ""] of others) await run(`drop user ${account(user, host)}`);
      if (own === "readable") await createDefiners(session, [`${OF_SYS}@localhost`], own);
      return session;
    }
    const admin = `attestore_${randomBytes(8).toString("hex")}`;
    for (const [user = "", host = ""] of others)
      if (user === "root" && host !== "localhost") await run(`drop user ${account(user, host)}`);
    await run(`rename user root@localhost to ${account(admin, "localhost")}`);
    const lasting = await openSession(server, admin, signal);
    rowsOf(await lasting.run("set session wait_timeout = 31536000"), "preparing the scratch server");
    await session.close();
    return lasting;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** A view or routine runs as its definer, and without that account it does not run. */
export async function createDefiners(
  session: MariadbSession,
  definers: readonly string[],
  own: OwnDatabases = "hidden",
): Promise<void> {
  for (const definer of definers) {
    const at = definer.lastIndexOf("@");
    const host = at === -1 ? "" : definer.slice(at + 1);
    const name = at === -1 ? definer : definer.slice(0, at);
    // Only a role has no host. Without it, the server would take the name for a user's.
    const [kind, who] = host === "" ? ["role", quoted(name)] : ["user", account(name, host)];
    // Skip a definer that has an invalid name. Whatever needs it fails later and says so.
    if (!(await session.runForeign(`create ${kind} if not exists ${who}`)).ok) continue;
    await grant((sql) => session.runForeign(sql), who, OF_DEFINERS, own);
  }
}

/**
 * Grants rights on every database except the server's own. If two grants match a database, only the
 * one with the more specific name counts. So the server's own databases get one that allows next to
 * nothing, or only to read.
 */
async function grant(
  run: (sql: string) => Promise<unknown>,
  user: string,
  rights: string,
  own: OwnDatabases,
): Promise<void> {
  const ofOwn = own === "hidden" ? "show view" : "select, execute, show view";
  for (const each of ["mysql", "sys"]) await run(`grant ${ofOwn} on ${each}.* to ${user}`);
  await run(`grant ${rights} on \`%\`.* to ${user}`);
}

/**
 * Without this right, the loader could not create anything that has another definer, and the dump
 * would be refused.
 */
async function mayNameDefiners(session: MariadbSession, isMysql: boolean): Promise<void> {
  const loader = account(LOADER, "localhost");
  const grants = isMysql
    ? // What 8.2 and later call it, and what 8.0 did.
      ["set_any_definer, allow_nonexistent_definer", "set_user_id"]
    : ["set user"];
  const given = [];
  for (const rights of grants) given.push(await session.run(`grant ${rights} on *.* to ${loader}`));
  if (given.some(({ ok }) => ok)) return;
  for (const each of given) rowsOf(each, "making the accounts of the scratch server");
}

function account(user: string, host: string): string {
  return `${quoted(user)}@${quoted(host)}`;
}

function isOlder(version: string, least: readonly [number, number, number]): boolean {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})/.exec(version)?.slice(1).map(Number) ?? [0, 0, 0];
  const at = least.findIndex((part, index) => parts[index] !== part);
  return at !== -1 && (parts[at] ?? 0) < (least[at] ?? 0);
}

function tooOld(version: string): RunError {
  return new RunError(
    "tool_too_old",
    `the ${productOf(version)} ${version} here cannot load a dump with a restricted account: install MariaDB 10.5.2, MySQL 8.0.16 or newer`,
  );
}
