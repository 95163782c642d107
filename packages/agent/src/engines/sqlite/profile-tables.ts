import type { DatabaseSync } from "node:sqlite";
import type { TableProfile } from "@attestore/proof";
import { ColumnProfiler, type Measured, measureValue, MIN_ROWS } from "../../checks/index.ts";
import { quotedName } from "../quoted-name.ts";

/** About how many rows of a larger table are read. */
const SAMPLED_ROWS = 30_000;
/** How many tables are profiled, the largest first. */
const MAX_TABLES = 200;
/** How many columns of a table are looked at, those that may hold texts first. */
const MAX_COLUMNS = 40;
const MANY_SHARES = 65_536;
/** Larger numbers are milliseconds. */
const SECONDS = 1e11;
const LEAST_TIME = 1e8;

const TABLES = `select name from pragma_table_list
  where schema = 'main' and type = 'table' and name not like 'sqlite~_%' escape '~' order by name`;
const COLUMNS = "select name, type from pragma_table_xinfo(?) where hidden = 0 order by cid";

export interface SqliteProfile {
  readonly tables: readonly TableProfile[];
  readonly left_out: number;
}

interface Limits {
  /** Makes hashes that nobody can predict. */
  readonly seed: number;
  /** In the time of `performance.now()`. */
  readonly until: number;
}

/** Smallest first. A table that cannot be read to its end in time has no profile. */
export function profileTables(database: DatabaseSync, limits: Limits): SqliteProfile {
  const counted = tablesOf(database, limits);
  const tables = counted
    .filter(({ rows }) => rows >= MIN_ROWS)
    .toSorted((a, b) => b.rows - a.rows)
    .slice(0, MAX_TABLES)
    .toReversed()
    .flatMap((table) => profileOf(database, table, limits) ?? []);
  return { tables, left_out: counted.length - tables.length };
}

interface Table {
  readonly name: string;
  readonly rows: number;
}

/** One that could not be counted has no rows here. */
function tablesOf(database: DatabaseSync, { until }: Limits): Table[] {
  return database
    .prepare(TABLES)
    .all()
    .map(({ name }) => {
      const rows = performance.now() > until ? 0 : countOf(database, String(name));
      return { name: String(name), rows };
    });
}

function countOf(database: DatabaseSync, table: string): number {
  try {
    return Number(
      database.prepare(`select count(*) as n from ${quotedName(table)} not indexed`).get()?.["n"],
    );
  } catch {
    return 0;
  }
}

interface Column {
  readonly name: string;
  readonly isTime: boolean;
  readonly profiler: ColumnProfiler;
}

function profileOf(database: DatabaseSync, table: Table, { seed, until }: Limits): TableProfile | null {
  try {
    const columns = columnsOf(database, table.name, seed);
    const statement = database.prepare(statementOf(table, columns));
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    let rows = 0;
    for (const row of statement.iterate() as Iterable<unknown>) {
      if (rows % 64 === 0 && performance.now() > until) return null;
      rows += 1;
      for (const [at, { profiler, isTime }] of columns.entries())
        profiler.add(
          measured((row as readonly Value[])[2 * at] ?? null, (row as readonly Value[])[2 * at + 1], isTime),
        );
    }
    const profiles = columns.flatMap(({ profiler }) => profiler.end() ?? []);
    if (profiles.length === 0) return null;
    const isAll = table.rows <= SAMPLED_ROWS;
    return {
      name: table.name,
      rows: isAll ? table.rows : Number(table.rows.toPrecision(2)),
      columns: profiles,
    };
  } catch {
    return null;
  }
}

function columnsOf(database: DatabaseSync, table: string, seed: number): Column[] {
  const all = database
    .prepare(COLUMNS)
    .all(table)
    .map(({ name, type }) => ({ name: String(name), type: String(type).toLowerCase() }));
  return all
    .toSorted((a, b) => Number(isNumeric(a.type)) - Number(isNumeric(b.type)))
    .slice(0, MAX_COLUMNS)
    .map(({ name, type }) => ({
      name,
      isTime: /date|time/.test(type),
      profiler: new ColumnProfiler(name, seed),
    }));
}

function isNumeric(type: string): boolean {
  return /int|real|floa|doub|num|dec|bool|date|time/.test(type);
}

/** SQLite seeds its `random` itself: nobody at the source knows which rows are read. */
function statementOf({ name, rows }: Table, columns: readonly Column[]): string {
  const list = columns.flatMap(({ name: column }) => {
    const value = quotedName(column);
    return [
      `case when typeof(${value}) in ('text', 'blob') then substr(${value}, 1, 256) else ${value} end`,
      `octet_length(${value})`,
    ];
  });
  const share = Math.ceil((MANY_SHARES * SAMPLED_ROWS) / rows);
  const sample = rows <= SAMPLED_ROWS ? "" : ` where (random() & ${MANY_SHARES - 1}) < ${share}`;
  return `select ${list.join(", ")} from ${quotedName(name)} not indexed${sample}`;
}

type Value = null | number | bigint | string | Uint8Array;

function measured(value: Value, bytes: Value | undefined, isTime: boolean): Measured | null {
  if (value === null) return null;
  const found = measureValue(value, Number(bytes ?? 0));
  if (!isTime || (typeof value !== "bigint" && typeof value !== "number")) return found;
  const at = Number(value);
  return at < LEAST_TIME ? found : { ...found, at_ms: at > SECONDS ? at : at * 1000 };
}
