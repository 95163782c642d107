import type { SourceMetadata } from "../../engine.ts";
import { countEach, describeTables, COUNTING_S, MAX_TABLES_LISTED } from "../../row-counts.ts";
import { schemaHash, schemaSummary } from "../../schema.ts";
import { DATABASE_LOCALE, readLocale } from "../database/database-locale.ts";
import { listOtherObjects } from "../content/other-objects.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import {
  exactSchemaHash,
  EXTENSIONS,
  NAMED_ROLES,
  PRINTING,
  readableLines,
  rowsOf,
  SCHEMA_LISTING,
  schemaLines,
  TABLES_BY_SIZE,
} from "../schema.ts";
import { outputOf } from "../connection/session-error.ts";

/**
 * Begins the transaction in which everything is read, and returns the name under which pg_dump
 * joins its snapshot.
 */
export async function exportSnapshot(session: PsqlSession): Promise<string> {
  for (const setting of ["lock_timeout = '5min'", "row_security = off", ...PRINTING]) {
    outputOf(await session.run(`set ${setting}`), `setting ${setting}`);
  }
  outputOf(await session.run("begin isolation level repeatable read, read only"), "beginning a transaction");
  return outputOf(await session.run("select pg_export_snapshot()"), "exporting a snapshot").trim();
}

/** Describes what the open snapshot shows, and names at most that many tables. */
export async function describeSnapshot(
  session: PsqlSession,
  version: string,
  dumpVersion: string,
  limit = MAX_TABLES_LISTED,
): Promise<SourceMetadata> {
  const list = async (sql: string, what: string): Promise<string> => outputOf(await session.run(sql), what);
  const listing = await list(SCHEMA_LISTING, "listing the schema");
  const lines = schemaLines(listing);
  const names = rowsOf(await list(TABLES_BY_SIZE, "listing the tables")).map(([name = ""]) => name);
  const roles = rowsOf(await list(NAMED_ROLES, "listing the roles")).map(([name]) => name);
  const extensions = rowsOf(await list(EXTENSIONS, "listing the extensions"));
  const lacksPublic = !lines.some(({ kind, name }) => kind === "schema" && name === "public");
  const summary = schemaSummary(readableLines(listing));
  const others = await listOtherObjects(session, summary);
  const locale = readLocale(await list(DATABASE_LOCALE, "asking for the locale"));
  const counts = await countRows(session, names);
  const counted = names.map((name) => {
    const rows = counts.get(name);
    return rows === undefined ? { name } : { name, rows };
  });
  return {
    engine: "postgresql",
    engine_version: version,
    dump_format: "pg_dump-custom",
    schema_hash: schemaHash(lines),
    exact_schema_hash: exactSchemaHash(listing),
    dump_version: dumpVersion,
    encoding: (await list("show server_encoding", "asking for the encoding")).trim(),
    ...(locale === null ? {} : { locale }),
    database_bytes: Number(
      (await list("select pg_database_size(current_database())", "asking for the size")).trim(),
    ),
    extensions: extensions.map(([name, extensionVersion]) => ({ name, version: extensionVersion })),
    named_roles: roles,
    ...(lacksPublic ? { lacks_public: true } : {}),
    ...describeTables(lines, counted, { budget_s: COUNTING_S, limit }),
    schema_summary: summary,
    ...(others === null ? {} : { other_objects: others }),
  };
}

/** Cutting off one count undoes only that count. The snapshot stays. */
function countRows(session: PsqlSession, names: readonly string[]): Promise<Map<string, bigint>> {
  return countEach(names.toReversed(), COUNTING_S, async (name, seconds) => {
    await session.run("savepoint counting");
    await session.run(`set local statement_timeout = ${Math.ceil(seconds * 1000)}`);
    const counted = await session.runForeign(`select count(*) from ${name}`);
    await session.run("rollback to savepoint counting");
    const text = counted.ok ? counted.output.trim() : "";
    return /^[0-9]{1,19}$/.test(text) ? BigInt(text) : null;
  });
}
