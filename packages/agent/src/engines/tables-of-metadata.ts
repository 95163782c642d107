import type { ForeignMetadata } from "./engine.ts";

export interface ExpectedTable {
  readonly name: string;
  /** Null if the backup did not count them. */
  readonly rows: bigint | null;
  readonly atLeast: bigint | null;
}

const MAX_NAME = 300;

/** The tables that a backup's metadata names. It came over the wire, so whatever is not one is left out. */
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
