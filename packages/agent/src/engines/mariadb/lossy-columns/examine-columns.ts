import { limited } from "../connection/limited.ts";
import { allRowsOf, tableName } from "../schema.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";

/** A column whose values a dump may change. */
export interface SuspectColumn {
  readonly database: string;
  readonly table: string;
  readonly column: string;
  /** Whether the table keeps earlier versions of rows. */
  readonly isVersioned: boolean;
  /**
   * SQL: true for a value that changes, null or false for any other. `value` is quoted. Null if
   * nobody can tell.
   */
  readonly isChanged: ((value: string) => string) | null;
}

/** Columns by name, for example `shop.t.price`. */
export interface ExaminedColumns {
  readonly changed: readonly string[];
  /** There was no time for them, or their table's query failed. */
  readonly notExamined: readonly string[];
}

/**
 * Reads each table once, in the order given, and no longer than half of the time that is left: a
 * large or locked table does not take the time of all others. The first row with a value that
 * changes decides, so a table that is too large to be read to its end may still be refused. Only
 * then is the table read again, for the names of its other columns.
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
  const rowsWithin = async (select: string): Promise<readonly (readonly string[])[] | null> => {
    const left_s = (deadline - performance.now()) / 1000;
    const read = left_s <= 0 ? null : await session.runForeign(limited(version, select, left_s / 2));
    return read?.ok === true ? read.rows : null;
  };
  const tables = Map.groupBy(columns, ({ database, table }) => JSON.stringify([database, table]));
  for (const own of tables.values()) {
    const [{ database, table } = { database: "", table: "" }] = own;
    const from = allRowsOf(
      database,
      table,
      own.some(({ isVersioned }) => isVersioned),
    );
    const looks = own.map(({ column, isChanged }) => `coalesce(${isChanged?.(quoted(column)) ?? "null"}, 0)`);
    const first = await rowsWithin(
      `select ${looks.join(", ")} from ${from} where ${looks.join(" or ")} limit 1`,
    );
    const [found] = first ?? [];
    const maxima = looks.map((look) => `max(${look})`).join(", ");
    const again = found === undefined ? first : await rowsWithin(`select ${maxima} from ${from}`);
    for (const [at, { column, isChanged }] of own.entries()) {
      const name = `${tableName(database, table)}.${column}`;
      if (found?.[at] === "1" || again?.[0]?.[at] === "1") changed.push(name);
      else if (again === null || isChanged === null) notExamined.push(name);
    }
  }
  return { changed, notExamined };
}
