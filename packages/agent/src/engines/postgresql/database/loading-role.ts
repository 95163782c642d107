import { RunError } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { type DatabaseSetting, settingsOf } from "./database-settings.ts";
import { literal, PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { makeRoles, policyRoles } from "./policy-roles.ts";
import { outputOf } from "./prepare-database.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { unquotedName } from "../../quoted-name.ts";

/**
 * The role that loads a dump and afterwards runs the queries. It owns the restored database and has
 * no other rights.
 */
export const LOADING_ROLE = "attestore_load";

/**
 * Extensions that dumps often name and that only a superuser may create. None of them can read or
 * write files, start programs or open connections. Extensions that PostgreSQL lets the database's
 * owner create (`trusted` in their control file) need no list.
 */
const MADE_BEFOREHAND: ReadonlySet<string> = new Set([
  "address_standardizer",
  "address_standardizer_data_us",
  "amcheck",
  "autoinc",
  "bloom",
  // earthdistance needs it, and would put it into its own schema.
  "cube",
  "earthdistance",
  // The same of postgis_tiger_geocoder.
  "fuzzystrmatch",
  "hypopg",
  "insert_username",
  "moddatetime",
  "pageinspect",
  "pg_buffercache",
  "pg_freespacemap",
  "pg_prewarm",
  "pg_stat_statements",
  "pg_visibility",
  "pgrouting",
  "pgrowlocks",
  "pgstattuple",
  "postgres_fdw",
  "postgis",
  // It reads files through GDAL, whose drivers only a superuser may switch on.
  "postgis_raster",
  "postgis_sfcgal",
  "postgis_tiger_geocoder",
  "postgis_topology",
  "sslinfo",
  "vector",
]);

const CREATE_EXTENSION =
  /^CREATE EXTENSION IF NOT EXISTS ("(?:[^"\n]|"")+"|[a-z_][a-z0-9_]*) WITH SCHEMA ("(?:[^"\n]|"")+"|[a-z_][a-z0-9_]*);$/gm;

/**
 * Schemas, besides its own, that an extension's script makes if they are not there yet. They are no
 * part of the extension, so a dump creates them, unless somebody dropped them.
 */
const ALSO_MADE: ReadonlyMap<string, string> = new Map([["postgis_tiger_geocoder", "tiger_data"]]);

/** An extension of the list above that a dump creates. */
export interface WantedExtension {
  readonly name: string;
  readonly schema: string;
  /** Those of `ALSO_MADE`, each with whether the dump creates it too. */
  readonly more: readonly { readonly schema: string; readonly isInDump: boolean }[];
}

const ALONE =
  /^\s*(?:alter\s+system|(?:create|drop)\s+(?:database|tablespace|subscription)|vacuum|reindex|discard|(?:create\s+(?:unique\s+)?|drop\s+)index\s+concurrently)\b/im;

/** The extensions, roles and settings that must exist before a dump is loaded. */
export interface Needs {
  readonly extensions: readonly WantedExtension[];
  /** The roles that policies and user mappings apply to. */
  readonly roles: readonly string[];
  /** A rough count of the statements that create or change something. */
  readonly statements: number;
  /**
   * Whether a statement can't run in a transaction with others. No dump of pg_dump contains one.
   */
  readonly isAlone: boolean;
  /** Whether it creates the schema `public`, which every new database has. */
  readonly makesPublic: boolean;
  /** The settings of the source's database. */
  readonly settings: readonly DatabaseSetting[];
}

/** Finds the needs of a dump in pg_dump's SQL. */
export function needsOf(sql: string): Needs {
  return {
    extensions: wantedExtensions(sql),
    roles: policyRoles(sql),
    statements: countStatements(sql),
    // An archive always lists the database itself.
    isAlone: ALONE.test(sql.replace(/^CREATE DATABASE [^\n]*$/m, "")),
    makesPublic: /^CREATE SCHEMA public;$/m.test(sql),
    settings: settingsOf(sql),
  };
}

/** Holds none of them, because a dump may have millions. */
function countStatements(sql: string): number {
  const beginnings = sql.matchAll(/^(?:CREATE|ALTER(?! [^\n]* OWNER TO )|COMMENT) /gm);
  let statements = 0;
  for (const _ of beginnings) statements += 1;
  return statements;
}

/**
 * Schemas that exist before the dump is loaded, most of them for the extensions. The dump creates
 * them too.
 */
export function schemasMadeFor({ extensions, makesPublic }: Needs): ReadonlySet<string> {
  const ofExtensions = extensions.flatMap(({ schema, more }) => [
    ...(schema === "public" || schema.startsWith("pg_") ? [] : [schema]),
    ...more.filter(({ isInDump }) => isInDump).map((each) => each.schema),
  ]);
  return new Set([...(makesPublic ? ["public"] : []), ...ofExtensions]);
}

/** Extensions that pg_dump's SQL creates. */
function wantedExtensions(sql: string): WantedExtension[] {
  return [...sql.matchAll(CREATE_EXTENSION)]
    .map(([, name = "", schema = ""]) => ({ name: unquotedName(name), schema: unquotedName(schema) }))
    .filter(({ name }) => MADE_BEFOREHAND.has(name))
    .map((extension) => {
      const also = ALSO_MADE.get(extension.name);
      if (also === undefined) return { ...extension, more: [] };
      return { ...extension, more: [{ schema: also, isInDump: sql.includes(`\nCREATE SCHEMA ${also};\n`) }] };
    });
}

/**
 * Gives an empty database to the loading role, with the extensions and roles that its dump names.
 * They are created first, so that the extensions' scripts see nothing of the dump.
 * @returns `schemasMadeFor` these needs: that the dump creates them too is no error.
 * @throws RunError
 */
export async function giveToLoader(
  server: ScratchServer,
  database: string,
  needs: Needs,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { extensions, roles } = needs;
  await makeRoles(server.run, roles, signal);
  const session = await PsqlSession.open(server.run, { PGDATABASE: database }, signal);
  try {
    // Otherwise row security would hide rows that the checks count.
    for (const statement of [
      `select 'create role ${LOADING_ROLE}' where not exists (select from pg_roles where rolname operator(pg_catalog.=) '${LOADING_ROLE}')`,
      `select 'alter role ${LOADING_ROLE} login nosuperuser nocreatedb nocreaterole noreplication bypassrls'`,
      `select format('alter database %I owner to ${LOADING_ROLE}', current_database())`,
      `select 'alter schema public owner to ${LOADING_ROLE}'`,
    ])
      await execute(session, statement);
    for (const { name, schema, more } of extensions) {
      for (const each of [schema, ...more.map((other) => other.schema)])
        await execute(
          session,
          `select format('create schema if not exists %I authorization ${LOADING_ROLE}', ${literal(each)})
           where ${literal(each)} operator(pg_catalog.!~) '^pg_'`,
        );
      // If the extension is not installed here, the dump itself will fail and say so.
      await execute(
        session,
        `select format('create extension if not exists %I with schema %I cascade', ${literal(name)}, ${literal(schema)})
         where exists (select from pg_available_extensions where pg_available_extensions.name operator(pg_catalog.=) ${literal(name)})`,
      );
      for (const other of more.filter(({ isInDump }) => !isInDump))
        await execute(session, `select format('drop schema %I', ${literal(other.schema)})`);
    }
    for (const grant of OF_EXTENSIONS) await execute(session, grant);
    // The dump has comments on the extensions, and only an extension's owner may set one.
    outputOf(await session.run(`update pg_extension set extowner = '${LOADING_ROLE}'::regrole`));
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
  return schemasMadeFor(needs);
}

/**
 * A dump fills the tables in which an extension keeps settings, and creates servers for the
 * extension's wrappers.
 */
const OF_EXTENSIONS = [
  `select string_agg(format('grant select, insert, update, delete on %s to ${LOADING_ROLE}', each::regclass), '; ')
   from pg_extension, unnest(extconfig) each`,
  `select string_agg(format('grant usage on foreign data wrapper %I to ${LOADING_ROLE}', fdwname), '; ') from pg_foreign_data_wrapper`,
];

/**
 * Runs the statement that a query returns, if it returns one.
 * @throws RunError, SessionEnded
 */
async function execute(session: PsqlSession, query: string): Promise<void> {
  outputOf(
    await session.run(
      `do $$ declare statement text; begin execute ${literal(query)} into statement; if statement is not null then execute statement; end if; end $$`,
    ),
  );
}

/** Only a superuser may make an aggregate whose state is a pointer into the server's memory. */
const INTERNAL_STATE = /aggregate transition data type cannot be internal/;

/**
 * Finds in a server's error the right that the loading role lacks. The result has no part of a row.
 */
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
  [INTERNAL_STATE, () => "an aggregate whose state is of the type internal"],
  [/only superuser can ([a-z ]{1,60})/, (what) => `a superuser to ${what}`],
  [/permission denied to ([a-z ]{1,60})/, (what) => `the right to ${what}`],
];

/** What that is, for a message. */
export function lackedRight(line: string): string | undefined {
  return BEYOND.flatMap(([pattern, say]) => {
    const match = pattern.exec(line);
    return match === null ? [] : [say(match[1] ?? "")];
  })[0];
}

/** Whether the server's error says that the loading role lacks a right. */
export function isBeyondLoader(sqlstate: string, message: string): boolean {
  return sqlstate === "42501" || (sqlstate === "42P13" && INTERNAL_STATE.test(message));
}

/**
 * The error for a dump that needs more than the owner of a database may do. `where`: which entry of
 * the dump, after a space; said if the server's error does not tell what is needed.
 */
export function needsSuperuser(sqlstate: string, line: string, where = ""): RunError {
  return new RunError(
    "sandbox_lacks",
    `the dump needs ${lackedRight(line) ?? `more rights${where}`} (SQLSTATE ${sqlstate}): the role that loads a dump owns its database and has no other rights. ` +
      "A dump without it can be tested",
  );
}
