import { RunError } from "../../errors/run-error.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { PsqlSession, SessionEnded } from "./psql-session.ts";
import { outputOf } from "./prepare-database.ts";
import { connectionFailed } from "./session-error.ts";

/** A setting that the source's database has, as its dump prints it: a name, and literals of SQL. */
export interface DatabaseSetting {
  readonly name: string;
  readonly value: string;
}

const ALTER_DATABASE =
  /^ALTER DATABASE (?:"(?:[^"\n]|"")+"|[a-z_][a-z0-9_$]*) SET ("(?:[^"\n]|"")+"|[a-z_][a-z0-9_.]*) TO ((?:'(?:[^']|'')*'|E'(?:[^'\\]|''|\\[^])*')(?:, (?:'(?:[^']|'')*'|E'(?:[^'\\]|''|\\[^])*'))*);$/gm;
const MAX_SETTINGS = 500;

/**
 * Settings that say what sessions of the source's applications may do, and nothing about its data: they would only stop the restore or the
 * checks. The libraries are those of the source's host.
 */
const NOT_OF_THE_DATA =
  /^(?:role|session_authorization|default_transaction_(?:read_only|deferrable)|[a-z_]+_timeout|[a-z_]+_preload_libraries)$/;

/** Where pg_dump puts them: a function's body may have such lines too. */
const PROPERTIES = /^-- Name: [^\n]*; Type: DATABASE PROPERTIES; [^\n]*\n--\n([^]*?)(?=\n--\n-- )/m;

/** Those in SQL of pg_dump's. */
export function settingsOf(sql: string): DatabaseSetting[] {
  const [, properties = ""] = PROPERTIES.exec(sql) ?? [];
  return [...properties.matchAll(ALTER_DATABASE)]
    .map(([, name = "", value = ""]) => ({ name, value }))
    .filter(({ name }) => !NOT_OF_THE_DATA.test(unquoted(name).toLowerCase()))
    .slice(0, MAX_SETTINGS);
}

/** Only a superuser may set it, or this version has it no more. */
const PASSED_OVER: ReadonlySet<string> = new Set(["42501", "42704"]);

/**
 * Gives a restored database the source's settings, by which its constraints, functions and queries may read values in another way. As the role that
 * loads the dump: what only a superuser may set is about the server and is left out.
 * @throws RunError `sandbox_lacks` for a value that this server does not take
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
      const done = await session.runDynamic(
        `alter database "${database.replaceAll('"', '""')}" set ${name} to ${value}`,
      );
      if (done.ok || PASSED_OVER.has(done.sqlstate)) continue;
      // The value may be a secret of the application's.
      if (done.sqlstate.startsWith("22"))
        throw new RunError(
          "sandbox_lacks",
          `the source's database sets ${unquoted(name).slice(0, 63)} to a value that the PostgreSQL ${server.runtime.engine_version} here does not take: ` +
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

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}
