import { clip } from "../clip.ts";
import type { Observation, Value } from "../values/row.ts";
import { type ColumnName, printName, quoteName } from "./expression.ts";

const MAX_NAMES = 20;

/**
 * The column's value, or why there is none. A name in quotes has to match exactly, any other in
 * whatever case if only one does.
 */
export function findColumn(
  { name, isQuoted }: ColumnName,
  row: Observation,
): { readonly value: Value } | { readonly problem: string } {
  const exact = row.find((column) => column.name === name);
  if (exact !== undefined) return exact;
  const asked = isQuoted ? quoteName(clip(name, 64)) : printName(name);
  const lower = name.toLowerCase();
  const alike = isQuoted ? [] : row.filter((column) => column.name.toLowerCase() === lower);
  const [only] = alike;
  if (only === undefined) return { problem: `the row has no column ${asked}; ${present(row)}` };
  if (alike.length === 1) return only;
  const candidates = listNames(alike.map((column) => column.name));
  return { problem: `${asked} could be ${candidates}: put the name in double quotes` };
}

function present(row: Observation): string {
  return row.length === 0 ? "it has none" : `it has ${listNames(row.map((column) => column.name))}`;
}

/** As many as a person reads. */
export function listNames(columns: readonly string[]): string {
  const shown = columns.slice(0, MAX_NAMES).map(printName).join(", ");
  return columns.length > MAX_NAMES ? `${shown} and ${columns.length - MAX_NAMES} more` : shown;
}
