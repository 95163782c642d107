import { CouldNotRun } from "../../runs/could-not-run.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { withHead } from "../with-head.ts";
import { literal, PsqlSession, SessionEnded } from "./psql-session.ts";
import { outputOf } from "./prepare-database.ts";
import { connectionFailed } from "./session-error.ts";

/** Who loads a dump that somebody else wrote as SQL, and asks it afterwards: it owns the restored database, and may do nothing else. */
export const LOADING_ROLE = "attestore_load";

/**
 * Extensions that PostgreSQL lets a superuser alone make, that dumps commonly name, and by which nobody reads or writes files, starts
 * programs or connects to anything. Those that it trusts the database's owner with (`trusted` in their control file) need no list.
 */
const MADE_BEFOREHAND: ReadonlySet<string> = new Set([
  "address_standardizer",
  "hypopg",
  "pg_buffercache",
  "pg_freespacemap",
  "pg_stat_statements",
  "pg_visibility",
  "pgrouting",
  "pgrowlocks",
  "pgstattuple",
  "postgis",
  "postgis_topology",
  "vector",
]);

/** pg_dump names all extensions right after the schemas, before anything that has content. */
const HEAD_BYTES = 1 << 20;
const CREATE_EXTENSION =
  /^CREATE EXTENSION IF NOT EXISTS ("(?:[^"\n]|"")+"|[a-z_][a-z0-9_]*) WITH SCHEMA ("(?:[^"\n]|"")+"|[a-z_][a-z0-9_]*);$/gm;

export interface PreparedLoad {
  readonly content: AsyncIterable<Buffer>;
  /** Made for an extension: that the dump makes them too is no error. */
  readonly schemas: ReadonlySet<string>;
}

/**
 * Gives an empty database to the loading role, with the extensions of the list that the dump's head names: made while nothing of the
 * dump is there that their scripts could meet.
 * @throws CouldNotRun, and whatever the content throws.
 */
export async function prepareLoad(
  server: ScratchServer,
  database: string,
  dump: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<PreparedLoad> {
  const { head, content, close } = await withHead(dump, HEAD_BYTES);
  const wanted = [...head.toString("utf8").matchAll(CREATE_EXTENSION)]
    .map(([, name = "", schema = ""]) => ({ name: unquoted(name), schema: unquoted(schema) }))
    .filter(({ name }) => MADE_BEFOREHAND.has(name));
  const schemas = new Set<string>();
  const session = await PsqlSession.open(server.run, { PGDATABASE: database }, signal);
  try {
    // Row security would hide from it what the checks count.
    await execute(
      session,
      `select format('create role %I login nosuperuser nocreatedb nocreaterole noreplication bypassrls', ${literal(LOADING_ROLE)})`,
    );
    for (const statement of [
      `select format('alter database %I owner to ${LOADING_ROLE}', current_database())`,
      `select 'alter schema public owner to ${LOADING_ROLE}'`,
    ])
      await execute(session, statement);
    for (const { name, schema } of wanted) {
      if (schema !== "public" && !schema.startsWith("pg_")) schemas.add(schema);
      await execute(
        session,
        `select format('create schema if not exists %I authorization ${LOADING_ROLE}', ${literal(schema)})
         where ${literal(schema)} operator(pg_catalog.!~) '^pg_'`,
      );
      // One that is not installed here the dump itself will miss.
      await execute(
        session,
        `select format('create extension if not exists %I with schema %I cascade', ${literal(name)}, ${literal(schema)})
         where exists (select from pg_available_extensions where pg_available_extensions.name operator(pg_catalog.=) ${literal(name)})`,
      );
    }
    // So that a dump may comment on them, as it does.
    outputOf(await session.run(`update pg_extension set extowner = '${LOADING_ROLE}'::regrole`));
  } catch (error) {
    await close();
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
  return { content, schemas };
}

/** Runs the statement that a query gives; none if it gives none. @throws CouldNotRun, SessionEnded */
async function execute(session: PsqlSession, query: string): Promise<void> {
  outputOf(
    await session.run(
      `do $$ declare statement text; begin execute ${literal(query)} into statement; if statement is not null then execute statement; end if; end $$`,
    ),
  );
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

/** Of an error of the server's: what a role like this may not do. Nothing of a row is in what is let through. */
const BEYOND: readonly [RegExp, (found: string) => string][] = [
  [/permission denied to create extension "([A-Za-z0-9_-]{1,63})"/, (name) => `the extension ${name}`],
  [/permission denied for language ([a-z0-9_]{1,63})$/, (name) => `a function in the language ${name}`],
  [/permission denied to create event trigger/, () => "an event trigger"],
  [/permission denied for foreign-data wrapper ([a-z0-9_]{1,63})$/, (name) => `a server of ${name}`],
  [/permission denied to COPY (?:to or )?from (?:or to )?an external program/, () => "COPY from a program"],
  [/to COPY to or from an external program/, () => "COPY from a program"],
  [/to COPY (?:to or )?from a file/, () => "COPY from a file"],
  [/to COPY to a file/, () => "COPY to a file"],
  [/permission denied to set parameter "([a-z_.]{1,63})"/, (name) => `the setting ${name}`],
  [/permission denied for function ([a-z0-9_]{1,63})$/, (name) => `the function ${name}`],
  [/must be superuser to ([a-z ]{1,60})/, (what) => `a superuser to ${what}`],
  [/permission denied to ([a-z ]{1,60})/, (what) => `the right to ${what}`],
];

/** A dump that asks for what no owner of a database may do. */
export function needsSuperuser(line: string): CouldNotRun {
  const what = BEYOND.flatMap(([pattern, say]) => {
    const match = pattern.exec(line);
    return match === null ? [] : [say(match[1] ?? "")];
  })[0];
  return new CouldNotRun(
    "sandbox_lacks",
    `the dump needs ${what ?? "more rights"} (SQLSTATE 42501): a dump in SQL is loaded by a role that owns its database and may do nothing else. ` +
      "Without it, or as pg_dump --format=custom made by the agent itself, it can be tested",
  );
}
