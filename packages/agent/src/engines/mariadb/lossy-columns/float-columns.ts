import { RunError } from "../../../errors/run-error.ts";
import { COUNTING_S } from "../../row-counts.ts";
import { examineColumns, type ExaminedColumns } from "./examine-columns.ts";
import { floatColumns } from "../schema.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

/**
 * The columns that a dump would round. A server prints a FLOAT with six digits, and the dump
 * programs have no other way to get it: 16777217 becomes 16777200. So each value is compared with
 * the number that its text is read as. Both are compared as DOUBLE, which holds any FLOAT exactly.
 */
export async function roundedFloats(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<ExaminedColumns> {
  const columns = rowsOf(await session.run(floatColumns(databases)), "listing the columns of type FLOAT").map(
    ([database = "", table = "", column = "", isVersioned]) => ({
      database,
      table,
      column,
      isVersioned: isVersioned === "1",
      isChanged: (value: string) => `cast(concat(${value}) as float) + 0e0 <> ${value} + 0e0`,
    }),
  );
  return examineColumns(session, columns, version, budget_s);
}

/** @throws RunError `dump_failed` if the dump would contain other numbers than the source. */
export function refuseRounded({ changed }: ExaminedColumns): void {
  if (changed.length === 0) return;
  throw new RunError(
    "dump_failed",
    `the dump program rounds FLOAT to six digits, and ${changed.slice(0, 5).join(", ").slice(0, 300)} ` +
      `${changed.length > 5 ? `and ${changed.length - 5} more columns have` : "has"} values with more digits. ` +
      "No backup was kept. Make the column DOUBLE (alter table … modify … double), which is dumped exactly",
  );
}
