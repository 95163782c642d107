import type { SourceMetadata } from "../engine.ts";
import {
  MAX_TABLES_COUNTED,
  MAX_TABLES_LISTED,
  schemaHash,
  type TableSummary,
  tableSchema,
} from "../schema-hash.ts";
import { schemaSummary } from "../schema-summary.ts";
import type { PsqlSession } from "./psql-session.ts";
import {
  EXTENSIONS,
  NAMED_ROLES,
  PRINTING,
  readableLines,
  rowsOf,
  SCHEMA_LISTING,
  schemaLines,
  TABLES_BY_SIZE,
} from "./schema.ts";
import { outputOf } from "./session-error.ts";

/** What counting may cost the source in all. */
const COUNTING_MS = 60_000;

/** Begins the transaction in which everything is read, and gives the name by which pg_dump reads in it too. */
export async function exportSnapshot(session: PsqlSession): Promise<string> {
  // The source's own limits are for its applications.
  for (const setting of [
    "statement_timeout = 0",
    "idle_in_transaction_session_timeout = 0",
    "lock_timeout = '5min'",
    "row_security = off",
    "standard_conforming_strings = on",
    ...PRINTING,
  ]) {
    outputOf(await session.run(`set ${setting}`), `setting ${setting}`);
  }
  outputOf(await session.run("begin isolation level repeatable read, read only"), "beginning a transaction");
  return outputOf(await session.run("select pg_export_snapshot()"), "exporting a snapshot").trim();
}

/** The metadata of what the open snapshot shows. */
export async function describeSnapshot(
  session: PsqlSession,
  version: string,
  dumpVersion: string,
): Promise<SourceMetadata> {
  const list = async (sql: string, what: string): Promise<string> => outputOf(await session.run(sql), what);
  const listing = await list(SCHEMA_LISTING, "listing the schema");
  const lines = schemaLines(listing);
  const names = rowsOf(await list(TABLES_BY_SIZE, "listing the tables")).map(([name = ""]) => name);
  const roles = rowsOf(await list(NAMED_ROLES, "listing the roles")).map(([name]) => name);
  const extensions = rowsOf(await list(EXTENSIONS, "listing the extensions"));
  const counts = await countRows(session, names.slice(0, MAX_TABLES_COUNTED));
  const tables = names.slice(0, MAX_TABLES_LISTED).map((name): TableSummary => {
    const rows = counts.get(name);
    return { name, schema: tableSchema(lines, name), ...(rows === undefined ? {} : { rows }) };
  });
  return {
    engine: "postgresql",
    engine_version: version,
    dump_format: "pg_dump-custom",
    schema_hash: schemaHash(lines),
    dump_version: dumpVersion,
    encoding: (await list("show server_encoding", "asking for the encoding")).trim(),
    database_bytes: Number(
      (await list("select pg_database_size(current_database())", "asking for the size")).trim(),
    ),
    extensions: extensions.map(([name, extensionVersion]) => ({ name, version: extensionVersion })),
    named_roles: roles,
    table_count: names.length,
    tables,
    schema_summary: schemaSummary(readableLines(listing)),
  };
}

async function countRows(
  session: PsqlSession,
  names: readonly string[],
): Promise<Map<string, number | string>> {
  const counts = new Map<string, number | string>();
  const deadline = performance.now() + COUNTING_MS;
  for (const name of names) {
    const left = Math.floor(deadline - performance.now());
    if (left <= 0) break;
    // A count that is cut off takes back no more than itself: the snapshot lives on.
    await session.run("savepoint counting");
    await session.run(`set local statement_timeout = ${left}`);
    const counted = await session.runForeign(`select count(*) from ${name}`);
    await session.run("rollback to savepoint counting");
    if (counted.ok) counts.set(name, countOf(counted.output.trim()));
  }
  return counts;
}

function countOf(text: string): number | string {
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
