import { limited } from "./limited.ts";
import { allRowsOf, tableName } from "./schema.ts";
import { type MariadbSession, quoted } from "./session.ts";

/** A column whose values a dump may change. */
export interface SuspectColumn {
  readonly database: string;
  readonly table: string;
  readonly column: string;
  /** Whether the table keeps earlier versions of rows. */
  readonly isVersioned: boolean;
  /** SQL: true for a value that changes, null or false for any other. `value` is quoted. */
  readonly isChanged: (value: string) => string;
}

/** Columns by name, for example `shop.t.price`. */
export interface ExaminedColumns {
  readonly changed: readonly string[];
  /** There was no time for them, or their table's query failed. */
  readonly notExamined: readonly string[];
}

/**
 * Reads each table once, in the order given, and no longer than half of the time that is left: a
 * large or locked table does not take the time of all others.
 */
export async function examineColumns(
  session: MariadbSession,
  columns: readonly SuspectColumn[],
  version: string,
  budget_s: number,
): Promise<ExaminedColumns> {
  const changed: string[] = [];
  const notExamined: string[] = [];
  const deadline = performance.now() + budget_s * 1000;
  const tables = Map.groupBy(columns, ({ database, table }) => JSON.stringify([database, table]));
  for (const own of tables.values()) {
    const [{ database, table } = { database: "", table: "" }] = own;
    const from = allRowsOf(
      database,
      table,
      own.some(({ isVersioned }) => isVersioned),
    );
    const looks = own.map(({ column, isChanged }) => `coalesce(max(${isChanged(quoted(column))}), 0)`);
    const left_s = (deadline - performance.now()) / 1000;
    const select = `select ${looks.join(", ")} from ${from}`;
    const examined = left_s <= 0 ? null : await session.runForeign(limited(version, select, left_s / 2));
    const [found = []] = examined?.ok === true ? examined.rows : [];
    for (const [at, { column }] of own.entries()) {
      const name = `${tableName(database, table)}.${column}`;
      if (found[at] === "1") changed.push(name);
      else if (found[at] !== "0") notExamined.push(name);
    }
  }
  return { changed, notExamined };
}
