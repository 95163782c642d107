import { RunError } from "../../errors/run-error.ts";
import { COUNTING_S } from "../row-counts.ts";
import { limited } from "./limited.ts";
import { allRowsOf, floatColumns, tableName } from "./schema.ts";
import { type MariadbSession, quoted } from "./session.ts";
import { rowsOf } from "./session-error.ts";

/** Columns by name, for example `shop.t.price`. */
export interface RoundedFloats {
  /** Columns with a value that the dump program would round. */
  readonly rounded: readonly string[];
  /** Columns that there was no time for, or whose query failed. */
  readonly notExamined: readonly string[];
}

/**
 * A server prints a FLOAT with six digits, and the dump programs have no other way to get it:
 * 16777217 becomes 16777200. So each value is compared with the number that its text is read as.
 * Both are compared as DOUBLE, which holds any FLOAT exactly.
 */
export async function roundedFloats(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<RoundedFloats> {
  const rounded: string[] = [];
  const notExamined: string[] = [];
  const deadline = performance.now() + budget_s * 1000;
  const columns = rowsOf(await session.run(floatColumns(databases)), "listing the columns of type FLOAT");
  for (const [database = "", table = "", column = "", isVersioned] of columns) {
    const name = `${tableName(database, table)}.${column}`;
    const value = quoted(column);
    const left_s = (deadline - performance.now()) / 1000;
    const select = `select exists (select 1 from ${allRowsOf(database, table, isVersioned === "1")}
      where cast(concat(${value}) as float) + 0e0 <> ${value} + 0e0)`;
    // Half of what is left, so that a large or locked table does not take the time of all others.
    const examined = left_s <= 0 ? null : await session.runForeign(limited(version, select, left_s / 2));
    const found = examined?.ok === true ? examined.rows[0]?.[0] : undefined;
    if (found === "1") rounded.push(name);
    if (found === undefined) notExamined.push(name);
  }
  return { rounded, notExamined };
}

/** @throws RunError `dump_failed` if the dump would contain other numbers than the source. */
export function refuseRounded({ rounded }: RoundedFloats): void {
  if (rounded.length === 0) return;
  throw new RunError(
    "dump_failed",
    `the dump program rounds FLOAT to six digits, and ${rounded.slice(0, 5).join(", ").slice(0, 300)} ` +
      `${rounded.length > 5 ? `and ${rounded.length - 5} more columns have` : "has"} values with more digits. ` +
      "No backup was kept. Make the column DOUBLE (alter table … modify … double), which is dumped exactly",
  );
}
