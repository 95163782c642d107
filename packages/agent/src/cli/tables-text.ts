import type { NamedTables } from "@attestore/proof";

/** `2 tables (public.a, public.b)`. */
export function tablesText({ count, names }: NamedTables): string {
  return `${count} ${count === 1 ? "table" : "tables"}${names === null ? "" : ` (${names})`}`;
}
