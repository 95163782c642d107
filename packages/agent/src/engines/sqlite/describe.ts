import { CouldNotRun } from "../../runs/could-not-run.ts";
import type { SourceMetadata } from "../engine.ts";
import {
  MAX_TABLES_LISTED,
  type SchemaLine,
  schemaHash,
  type TableSummary,
  tableSchema,
} from "../schema-hash.ts";
import { schemaSummary } from "../schema-summary.ts";
import type { Response } from "./protocol.ts";
import type { SqliteProcess } from "./sqlite-process.ts";

/** Everything that `create` made. The text is kept by SQLite as it was written, also by its backup. */
const SCHEMA_LISTING =
  "select type, tbl_name, name, sql from sqlite_schema where name not like 'sqlite\\_%' escape '\\'";
const TABLES =
  "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name";
/** For the summary: the columns, which in the schema are only a part of a text. */
const COLUMNS = `select 'column', t.name, c.name, trim(c.type || case when c."notnull" then ' not null' else '' end
    || case when c.pk > 0 then ' primary key' else '' end || coalesce(' default ' || c.dflt_value, ''))
  from pragma_table_list t join pragma_table_xinfo(t.name) c
  where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite\\_%' escape '\\'`;
/** What counting may take in all. */
const COUNTING_MS = 60_000;

/** The metadata of a copy that nobody else writes to. */
export async function describeSqlite(sqlite: SqliteProcess, path: string): Promise<SourceMetadata> {
  const lines = await schemaOf(sqlite, path);
  const names = await tablesOf(sqlite, path);
  const tables: TableSummary[] = [];
  const deadline = performance.now() + COUNTING_MS;
  for (const name of names) {
    const left_s = (deadline - performance.now()) / 1000;
    const counted =
      left_s <= 0 ? null : await sqlite.request({ op: "list", path, sql: countQuery(name) }, left_s);
    const rows = counted?.ok === true ? cells(counted)[0]?.[0] : undefined;
    tables.push({
      name,
      schema: tableSchema(lines, name),
      ...(rows === undefined ? {} : { rows: countOf(rows) }),
    });
  }
  return {
    engine: "sqlite",
    engine_version: await versionOf(sqlite),
    dump_format: "sqlite3-file",
    schema_hash: schemaHash(lines),
    table_count: names.length,
    tables: tables.toSorted((a, b) => Number(b.rows ?? 0) - Number(a.rows ?? 0)).slice(0, MAX_TABLES_LISTED),
    schema_summary: schemaSummary([
      ...lines,
      ...(await listed(sqlite, path, COLUMNS, "listing the columns")),
    ]),
  };
}

export async function versionOf(sqlite: SqliteProcess): Promise<string> {
  return (
    cells(answered(await sqlite.request({ op: "version" }), "asking for the version"))[0]?.[0] ?? "unknown"
  );
}

export function schemaOf(sqlite: SqliteProcess, path: string): Promise<SchemaLine[]> {
  return listed(sqlite, path, SCHEMA_LISTING, "listing the schema");
}

async function listed(sqlite: SqliteProcess, path: string, sql: string, what: string): Promise<SchemaLine[]> {
  return cells(answered(await sqlite.request({ op: "list", path, sql }), what)).map(
    ([kind = "", relation = "", name = "", definition = ""]) => ({ kind, relation, name, definition }),
  );
}

export async function tablesOf(sqlite: SqliteProcess, path: string): Promise<string[]> {
  const response = answered(await sqlite.request({ op: "list", path, sql: TABLES }), "listing the tables");
  return cells(response).map(([name = ""]) => name);
}

export function countQuery(table: string): string {
  return `select count(*) as rows from "${table.replaceAll('"', '""')}"`;
}

/** The rows of a `list`. */
export function cells(response: Extract<Response, { ok: true }>): string[][] {
  return (response.rows ?? []).map((row) => JSON.parse(row) as string[]);
}

function answered(response: Response | null, what: string): Extract<Response, { ok: true }> {
  if (response?.ok === true) return response;
  throw new CouldNotRun("dump_failed", `${what} failed: ${response?.message ?? "no answer"}`);
}

function countOf(text: string): number | string {
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
