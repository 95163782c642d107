import { COUNTING_S } from "../row-counts.ts";
import { examineColumns, type ExaminedColumns } from "./examine-columns.ts";
import { jsonColumns } from "./schema.ts";
import type { MariadbSession } from "./session.ts";
import { rowsOf } from "./session-error.ts";

/**
 * MySQL's columns of type JSON with numbers that a restore changes. In JSON, MySQL keeps DECIMAL:
 * `json_object('price', 5.00)` is printed, and dumped, as 5.00. A restore reads the text, takes
 * each number with a point for a DOUBLE, and prints 5.0.
 */
export async function retypedJson(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<ExaminedColumns> {
  const columns = rowsOf(await session.run(jsonColumns(databases)), "listing the columns of type JSON").map(
    ([database = "", table = "", column = ""]) => ({
      database,
      table,
      column,
      isVersioned: false,
      isChanged: (value: string): string => {
        const printed = `cast(${value} as char)`;
        return `not (cast(cast(cast(${printed} as json) as char) as binary) <=> cast(${printed} as binary))`;
      },
    }),
  );
  return examineColumns(session, columns, version, budget_s);
}

/** Whether one of the columns belongs to the table. All are named as in the metadata. */
export function hasColumnIn(columns: readonly string[], table: string): boolean {
  return columns.some((column) => column.startsWith(`${table}.`));
}
