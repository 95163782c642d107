import type { Origin } from "../../engine.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { outputOf } from "../connection/session-error.ts";

/**
 * The database's oid. It changes if the database was dropped and created again, or if another one
 * took its name.
 */
const DATABASE = `select pg_catalog.json_build_array(datname, oid::pg_catalog.text) from pg_catalog.pg_database
  where datname operator(pg_catalog.=) pg_catalog.current_database()`;
const SYSTEM =
  "select pg_catalog.json_build_array(system_identifier::pg_catalog.text) from pg_catalog.pg_control_system()";

/**
 * The cluster's identifier, which initdb made and its physical replicas share, and the database's
 * name and oid. If a server does not tell its identifier, the host takes its place. Run this
 * outside a transaction, because a refused answer would end one.
 * @throws RunError, SessionEnded
 */
export async function originOf(
  session: PsqlSession,
  environment: Readonly<Record<string, string>>,
): Promise<Origin> {
  const [[database = "", database_oid = ""] = []] = rowsOf(
    outputOf(await session.run(DATABASE), "asking for the database"),
  );
  const asked = await session.run(SYSTEM);
  const [[system_identifier] = []] = asked.ok ? rowsOf(asked.output) : [];
  const host = hostOf(environment);
  if (system_identifier !== undefined)
    return { identity: { system_identifier, database, database_oid }, host };
  return { identity: { host: host ?? "local", database, database_oid }, host };
}

/** Null for a socket of this host. */
function hostOf({ PGHOST, PGPORT, PGSERVICE }: Readonly<Record<string, string>>): string | null {
  if (PGHOST === undefined) return PGSERVICE === undefined ? null : `service ${PGSERVICE}`;
  if (PGHOST.startsWith("/")) return null;
  return PGPORT === undefined ? PGHOST : `${PGHOST}:${PGPORT}`;
}
