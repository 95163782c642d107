import { setTimeout } from "node:timers/promises";
import type { RunProgram } from "../../../processes/run-program.ts";
import { quotedName } from "../../quoted-name.ts";
import { PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { contentsOf } from "../throw-away/contents.ts";

/** A new database that a restore made and did not fill. */
export interface MadeDatabase {
  readonly name: string;
  /** Another database of that name has another one. */
  readonly oid: string;
  /** A database of the same server, from which this one can be removed. */
  readonly beside: string;
}

/** A server waits as long for those who are connected. */
const LEAVING_MS = 5_000;
const LOOKING_MS = 100;
/** Also after the restore was interrupted. */
const TIME_MS = 30_000;

const OID = "select json_build_array(oid::text) from pg_database where datname = current_database()";
const OTHERS = `select json_build_array(count(*)) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/**
 * Removes such a database, if nobody else has used it: an application that waits for it may create
 * its tables at once. While somebody looks into a database, nobody can replace it, and what was
 * empty when nobody could connect any more stays so.
 * @returns whether it is gone
 */
export async function discardDatabase(
  run: RunProgram,
  environment: Readonly<Record<string, string>>,
  { name, oid, beside }: MadeDatabase,
): Promise<boolean> {
  const signal = AbortSignal.timeout(TIME_MS);
  const inside = await PsqlSession.open(run, environment, signal, { database: name });
  const outside = await PsqlSession.open(run, environment, signal, { database: beside });
  const allow = async (isAllowed: boolean): Promise<boolean> =>
    (await outside.run(`alter database ${quotedName(name)} allow_connections ${isAllowed}`)).ok;
  try {
    if ((await oneOf(inside, OID)) !== oid || !(await allow(false))) return false;
    if ((await isLeft(inside)) && (await contentsOf(inside)) === "") {
      await inside.close();
      if ((await outside.run(`drop database ${quotedName(name)}`)).ok) return true;
    }
    await allow(true);
    return false;
  } catch {
    // The server is gone, or refuses a question. The caller says that the database is left.
    await allow(true).catch(() => false);
    return false;
  } finally {
    await inside.close();
    await outside.close();
  }
}

/** Whether everybody else has left, such as a process of the server's that takes back a load. */
async function isLeft(inside: PsqlSession): Promise<boolean> {
  const until = performance.now() + LEAVING_MS;
  while ((await oneOf(inside, OTHERS)) !== "0") {
    if (performance.now() > until) return false;
    await setTimeout(LOOKING_MS);
  }
  return true;
}

async function oneOf(session: PsqlSession, sql: string): Promise<string | null> {
  const asked = await session.run(sql);
  return asked.ok ? (rowsOf(asked.output)[0]?.[0] ?? null) : null;
}
