import { RunError } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { outputOf } from "./prepare-database.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { quotedName, unquotedName } from "../../quoted-name.ts";

/** A setting of the source's database as its dump prints it: a name, and SQL literals. */
export interface DatabaseSetting {
  readonly name: string;
  readonly value: string;
}

const ALTER_DATABASE =
  /^ALTER DATABASE (?:"(?:[^"\n]|"")+"|[a-z_][a-z0-9_$]*) SET ("(?:[^"\n]|"")+"|[a-z_][a-z0-9_.]*) TO ((?:'(?:[^']|'')*'|E'(?:[^'\\]|''|\\[^])*')(?:, (?:'(?:[^']|'')*'|E'(?:[^'\\]|''|\\[^])*'))*);$/gm;
const MAX_SETTINGS = 500;

/**
 * Settings that limit the sessions of the source's applications and say nothing about its data.
 * Here they would only stop the restore or the checks. Libraries belong to the source's host.
 */
const NOT_OF_THE_DATA =
  /^(?:role|session_authorization|default_transaction_(?:read_only|deferrable)|[a-z_]+_timeout|[a-z_]+_preload_libraries)$/;

/** pg_dump writes them here. The body of a function may contain similar lines. */
const PROPERTIES = /^-- Name: [^\n]*; Type: DATABASE PROPERTIES; [^\n]*\n--\n([^]*?)(?=\n--\n-- )/m;

/** Finds the settings in pg_dump's SQL. */
export function settingsOf(sql: string): DatabaseSetting[] {
  const [, properties = ""] = PROPERTIES.exec(sql) ?? [];
  return [...properties.matchAll(ALTER_DATABASE)]
    .map(([, name = "", value = ""]) => ({ name, value }))
    .filter(({ name }) => !NOT_OF_THE_DATA.test(unquotedName(name).toLowerCase()))
    .slice(0, MAX_SETTINGS);
}

/** Only a superuser may set it, or this version no longer has it. */
const PASSED_OVER: ReadonlySet<string> = new Set(["42501", "42704"]);

/**
 * Gives a restored database the source's settings, because constraints, functions and queries may
 * read values differently without them. It sets them as the role that loads the dump. Settings that
 * only a superuser may set belong to the server and are left out.
 * @throws RunError `sandbox_lacks` if this server does not accept a value
 */
export async function applySettings(
  server: ScratchServer,
  database: string,
  loader: string,
  settings: readonly DatabaseSetting[],
  signal: AbortSignal,
): Promise<void> {
  if (settings.length === 0) return;
  const session = await PsqlSession.open(server.run, { PGDATABASE: database, PGUSER: loader }, signal);
  try {
    for (const { name, value } of settings) {
      const done = await session.runDynamic(`alter database ${quotedName(database)} set ${name} to ${value}`);
      if (done.ok || PASSED_OVER.has(done.sqlstate)) continue;
      // Don't quote the value: it may be an application's secret.
      if (done.sqlstate.startsWith("22"))
        throw new RunError(
          "sandbox_lacks",
          `the source's database sets ${unquotedName(name).slice(0, 63)} to a value that the PostgreSQL ${server.runtime.engine_version} here does not take: ` +
            "install what it names, or set another value on the source",
        );
      outputOf(done);
    }
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
}
