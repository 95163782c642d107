import type { ForeignMetadata } from "./engine.ts";

export interface ExpectedTable {
  readonly name: string;
  /** Null if the backup did not count them. */
  readonly rows: bigint | null;
  readonly atLeast: bigint | null;
}

const MAX_NAME = 300;

/**
 * The tables that a backup's metadata name. We received the metadata, so anything that is not a
 * table is left out.
 */
export function tablesOfMetadata(metadata: ForeignMetadata): ExpectedTable[] {
  const tables = metadata["tables"];
  if (!Array.isArray(tables)) return [];
  return tables.flatMap((table: unknown) => {
    if (typeof table !== "object" || table === null || !("name" in table)) return [];
    const { name } = table;
    if (typeof name !== "string" || name === "" || name.length > MAX_NAME) return [];
    return [
      {
        name,
        rows: "rows" in table ? count(table.rows) : null,
        atLeast: "rows_at_least" in table ? count(table.rows_at_least) : null,
      },
    ];
  });
}

function count(rows: unknown): bigint | null {
  if (typeof rows === "number") return Number.isSafeInteger(rows) && rows >= 0 ? BigInt(rows) : null;
  return typeof rows === "string" && /^(?:0|[1-9][0-9]{0,18})$/.test(rows) ? BigInt(rows) : null;
}

/** The counts of the tables that the metadata do not name; null if unknown. */
export function restOfMetadata(
  metadata: ForeignMetadata,
): { readonly tables: number; readonly sha256: string } | null {
  const counts = recordOf(metadata["row_counts"]);
  const { tables, sha256 } = recordOf(counts["rest"]);
  const isKnown =
    typeof tables === "number" && Number.isSafeInteger(tables) && tables > 0 && typeof sha256 === "string";
  return isKnown && /^[0-9a-f]{64}$/.test(sha256) ? { tables, sha256 } : null;
}

/** How many tables were backed up, if the metadata say so. */
export function tableCountOf(metadata: ForeignMetadata): number {
  const { tables } = recordOf(metadata["row_counts"]);
  const count = typeof tables === "number" ? tables : metadata["table_count"];
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : 0;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
