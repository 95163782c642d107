import { openTables } from "./run-query.ts";
import { inList, tableName } from "../schema.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly mayBeNull: boolean;
  readonly isGenerated: boolean;
}

export interface Table {
  readonly database: string;
  readonly table: string;
  readonly name: string;
  readonly columns: readonly Column[];
}

/** One way to ruin a table, as a view of it. */
export interface Way {
  readonly how: string;
  readonly table: Table;
  /** What must be true of a row, or there is nothing to ruin. */
  readonly before: string;
  /** An expression in place of a column. */
  readonly instead: ReadonlyMap<string, string>;
  readonly where: string;
}

/** The tables that the last query opened, also through views and functions. */
export async function tablesRead(
  admin: MariadbSession,
  databases: readonly string[],
): Promise<readonly Table[]> {
  const open = new Set((await openTables(admin)).map(([of = "", name = ""]) => tableName(of, name)));
  const listed = rowsOf(
    await admin.run(`select c.table_schema, c.table_name, c.column_name, c.data_type, c.is_nullable, coalesce(c.generation_expression, '') <> ''
      from information_schema.columns c join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
      where ${inList("c.table_schema", databases)} and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
      order by 1, 2, c.ordinal_position`),
    "listing the columns",
  );
  const tables = new Map<string, Table & { readonly columns: Column[] }>();
  for (const [database = "", table = "", column = "", type = "", nullable = "", generated = ""] of listed) {
    const name = tableName(database, table);
    if (!open.has(name)) continue;
    const own = tables.get(name) ?? { database, table, name, columns: [] };
    own.columns.push({ name: column, type, mayBeNull: nullable === "YES", isGenerated: generated === "1" });
    tables.set(name, own);
  }
  return [...tables.values()];
}

export function emptied(table: Table): Way {
  return { how: `an empty ${table.name}`, table, before: "true", instead: new Map(), where: " where false" };
}

const TIMES: ReadonlySet<string> = new Set(["date", "datetime", "timestamp"]);

export function waysOfColumn(table: Table, { name, type, mayBeNull, isGenerated }: Column): readonly Way[] {
  if (isGenerated) return [];
  const way = (how: string, expression: string): Way => ({
    how: `${table.name}.${name} ${how}`,
    table,
    before: `${quoted(name)} is not null`,
    instead: new Map([[name, expression]]),
    where: "",
  });
  return [
    // The column keeps its type.
    ...(mayBeNull ? [way("null in every row", `if(false, ${quoted(name)}, null)`)] : []),
    ...(TIMES.has(type) ? [way("a year older", `${quoted(name)} - interval 1 year`)] : []),
  ];
}
