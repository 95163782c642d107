import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";
import { COUNTING_S } from "../../row-counts.ts";
import { examineColumns, type ExaminedColumns, type SuspectColumn } from "./examine-columns.ts";
import { enumColumns } from "../schema.ts";

/**
 * The columns of type ENUM or SET with values that a dump cannot tell from others. A dump has the
 * text of a value, and an empty text may be an element, or no element at all. If a text is two
 * elements, the second one comes back as the first.
 */
export async function ambiguousEnums(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<ExaminedColumns> {
  const columns = rowsOf(
    await session.run(enumColumns(databases)),
    "listing the columns of types ENUM and SET",
  ).flatMap(([database = "", table = "", column = "", type = "", isVersioned]): SuspectColumn[] => {
    const numbers = ambiguousNumbers(type);
    if (numbers.length === 0) return [];
    const isSet = type.startsWith("set");
    const isChanged = (value: string): string =>
      isSet
        ? `${value} & ${numbers.reduce((mask, at) => mask | (1n << BigInt(at - 1)), 0n)} <> 0`
        : `${value} + 0 in (${numbers.join(", ")})`;
    return [{ database, table, column, isVersioned: isVersioned === "1", isChanged }];
  });
  return examineColumns(session, columns, version, budget_s);
}

/**
 * The numbers of elements whose text another element before them has, and of those that are empty:
 * in a SET that of the element itself, in an ENUM zero, which means no element.
 */
export function ambiguousNumbers(type: string): number[] {
  const elements = [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = ""]) => text);
  const again = elements.flatMap((text, at) => (elements.indexOf(text) < at ? [at + 1] : []));
  const empty = elements.indexOf("");
  if (empty === -1) return again;
  return type.startsWith("set") ? [empty + 1, ...again] : [0, ...again];
}
