import { COUNTING_S } from "../../row-counts.ts";
import { examineColumns, type ExaminedColumns } from "./examine-columns.ts";
import { jsonColumns } from "../schema.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

export interface ExaminedJson {
  /** Columns with numbers that a restore changes. */
  readonly json: ExaminedColumns;
  /** Columns with values that a restore makes a text or a number of another kind. */
  readonly jsonTypes: readonly string[];
}

/**
 * MySQL's columns of type JSON with values that a restore changes. In JSON, MySQL keeps DECIMAL:
 * `json_object('price', 5.00)` is printed, and dumped, as 5.00. A restore reads the text, takes
 * each number with a point for a DOUBLE, and prints 5.0. MySQL also keeps times and bytes there,
 * which a restore prints as before, but reads as texts.
 */
export async function retypedJson(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<ExaminedJson> {
  const columns = rowsOf(await session.run(jsonColumns(databases)), "listing the columns of type JSON");
  const examine = (isChanged: (value: string) => string): Promise<ExaminedColumns> => {
    const suspects = columns.map(([database = "", table = "", column = ""]) => {
      return { database, table, column, isVersioned: false, isChanged };
    });
    return examineColumns(session, suspects, version, budget_s);
  };
  const either = await examine((value) => `${isPrintedOtherwise(value)} or ${isOtherValue(value)}`);
  if (either.changed.length === 0) return { json: either, jsonTypes: [] };
  const json = await examine(isPrintedOtherwise);
  return { json, jsonTypes: either.changed.filter((column) => !json.changed.includes(column)) };
}

const printed = (value: string): string => `cast(${value} as char)`;
const readAgain = (value: string): string => `cast(${printed(value)} as json)`;

function isPrintedOtherwise(value: string): string {
  return `not (cast(cast(${readAgain(value)} as char) as binary) <=> cast(${printed(value)} as binary))`;
}

/** In JSON, a time or bytes are never equal to a text. */
function isOtherValue(value: string): string {
  return `not (${readAgain(value)} <=> ${value})`;
}

/** Whether one of the columns belongs to the table. All are named as in the metadata. */
export function hasColumnIn(columns: readonly string[], table: string): boolean {
  return columns.some((column) => column.startsWith(`${table}.`));
}
