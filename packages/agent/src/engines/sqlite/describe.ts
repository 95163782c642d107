import { RunError } from "../../errors/run-error.ts";
import type { SourceMetadata } from "../engine.ts";
import { countEach, describeTables, type TableCount, COUNTING_S } from "../row-counts.ts";
import { type SchemaLine, schemaHash, schemaSummary } from "../schema.ts";
import { brokenForeignKeys, FOREIGN_KEYS_S } from "./foreign-keys.ts";
import { MADE } from "./made-objects.ts";
import { cells, lackIn, type Response } from "./protocol.ts";
import type { SqliteProcess } from "./sqlite-process.ts";
import { quotedName } from "../quoted-name.ts";

const OWN_TABLES =
  "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'";
/**
 * Virtual tables, such as those of FTS5 and R-trees, if there are no others. Then they are the
 * data.
 */
const TABLES = `${OWN_TABLES}
  union all select name from pragma_table_list where schema = 'main' and type = 'virtual' and not exists (${OWN_TABLES}) order by name`;
/** The columns, for the summary. In the schema they are only part of a text. */
const COLUMNS = `select 'column', t.name, c.name, trim(c.type || case when c."notnull" then ' not null' else '' end
    || case when c.pk > 0 then ' primary key' else '' end || coalesce(' default ' || c.dflt_value, ''))
  from pragma_table_list t join pragma_table_xinfo(t.name) c
  where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite\\_%' escape '\\'`;

/** Describes a copy that nobody else writes to. */
export async function describeSqlite(sqlite: SqliteProcess, path: string): Promise<SourceMetadata> {
  const lines = await schemaOf(sqlite, path);
  const names = await tablesOf(sqlite, path);
  const counts = await countEach(
    await smallestFirst(sqlite, path, names),
    COUNTING_S,
    async (name, seconds) => {
      const counted = await counting(name, (sql) => sqlite.request({ op: "list", path, sql }, seconds));
      const rows = counted?.ok === true ? cells(counted)[0]?.[0] : undefined;
      return rows === undefined ? null : BigInt(rows);
    },
  );
  const tables = names.map((name): TableCount => {
    const rows = counts.get(name);
    return rows === undefined ? { name } : { name, rows };
  });
  const foreignKeys = await brokenForeignKeys((sql) =>
    sqlite.request({ op: "list", path, sql }, FOREIGN_KEYS_S),
  );
  return {
    engine: "sqlite",
    engine_version: await versionOf(sqlite),
    dump_format: "sqlite3-file",
    schema_hash: schemaHash(lines),
    ...describeTables(
      lines,
      tables.toSorted((a, b) => Number((b.rows ?? 0n) - (a.rows ?? 0n))),
      { budget_s: COUNTING_S },
    ),
    ...(foreignKeys === null ? {} : { foreign_keys: { broken: foreignKeys.broken } }),
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
  return listed(sqlite, path, MADE, "listing the schema");
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

/**
 * Sorts by the largest rowid, which SQLite finds at once and which is about the number of rows. A
 * table without rowids comes last, because its size is unknown.
 */
export async function smallestFirst(
  sqlite: SqliteProcess,
  path: string,
  names: readonly string[],
): Promise<string[]> {
  const sizes: (readonly [string, number])[] = [];
  for (const name of names) {
    const sql = `select coalesce(max(rowid), 0) from ${quotedName(name)}`;
    const asked = await sqlite.request({ op: "list", path, sql });
    const size = asked?.ok === true ? Number(cells(asked)[0]?.[0]) : Number.NaN;
    sizes.push([name, Number.isNaN(size) ? Number.POSITIVE_INFINITY : size]);
  }
  return sizes.toSorted(([, a], [, b]) => (a === b ? 0 : a - b)).map(([name]) => name);
}

export function countQuery(table: string): string {
  return `select count(*) as rows from ${quotedName(table)}`;
}

/**
 * Counts a table. SQLite counts in an index if that is smaller than the table. It can't if an
 * application's own collation orders the index; then this counts the table itself.
 */
export async function counting(
  table: string,
  ask: (sql: string) => Promise<Response | null>,
): Promise<Response | null> {
  const counted = await ask(countQuery(table));
  return lackIn(counted) === null ? counted : ask(`${countQuery(table)} not indexed`);
}

function answered(response: Response | null, what: string): Extract<Response, { ok: true }> {
  if (response?.ok === true) return response;
  throw new RunError("dump_failed", `${what} failed: ${response?.message ?? "no answer"}`, {
    cause: response,
  });
}
