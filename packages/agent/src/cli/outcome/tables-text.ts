import { plural } from "@attestore/proof";
import type { NamedTables } from "@attestore/proof";

/** `2 tables (public.a, public.b)`. */
export function tablesText(tables: NamedTables): string {
  return countedNames(tables, "table");
}

/** The same of other things. */
export function countedNames({ count, names }: NamedTables, one: string, many?: string): string {
  return `${plural(count, one, many)}${names === null ? "" : ` (${names})`}`;
}
