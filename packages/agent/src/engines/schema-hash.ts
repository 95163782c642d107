import { createHash } from "node:crypto";

/** One line of a schema's listing. `relation` is the table it belongs to, empty for what stands by itself. */
export interface SchemaLine {
  readonly kind: string;
  readonly relation: string;
  readonly name: string;
  readonly definition: string;
}

/** SHA-256 in hex over the lines as JSON arrays, one a line, sorted by code units: the same schema, the same hash. */
export function schemaHash(lines: readonly SchemaLine[]): string {
  const listing = lines
    .map(({ kind, relation, name, definition }) => JSON.stringify([kind, relation, name, definition]))
    .toSorted();
  return createHash("sha256").update(listing.join("\n")).digest("hex");
}

/** What a backup says of a table: enough to tell later which one changed, and how many rows it had. */
export interface TableSummary {
  readonly name: string;
  /** The first half of the schema hash of this table alone. */
  readonly schema: string;
  /** As counted in the very snapshot that was dumped; absent if that would have taken too long. */
  readonly rows?: number | string;
  /** Where there is no such snapshot: what it must have at least. */
  readonly rows_at_least?: number | string;
}

export function tableSchema(lines: readonly SchemaLine[], table: string): string {
  return schemaHash(lines.filter(({ relation }) => relation === table)).slice(0, 32);
}

/** As many tables as a receipt has room for; the hash covers them all. */
export const MAX_TABLES_LISTED = 300;
/** What counting may cost the source in all, at each look. The signed metadata name it. */
export const COUNTING_S = 60;
