import { createHash } from "node:crypto";
import { type SchemaLine, tableSchema } from "./schema.ts";

/** A receipt has room for this many tables. The hash covers all of them. */
export const MAX_TABLES_LISTED = 300;
/**
 * The most seconds that counting may take of the source at each look. The signed metadata name this
 * limit.
 */
export const COUNTING_S = 60;

/**
 * Counts the tables one by one; the caller passes the smallest first. Each table may take half of
 * the time that is left. So one table that is larger than it looked, or that somebody locked, never
 * takes the time of all others. A table for which `count` returns null has no count.
 */
export async function countEach(
  names: readonly string[],
  budget_s: number,
  count: (name: string, seconds: number) => Promise<bigint | null>,
  now: () => number = () => performance.now(),
): Promise<Map<string, bigint>> {
  const counts = new Map<string, bigint>();
  const deadline = now() + budget_s * 1000;
  for (const name of names) {
    const left_s = (deadline - now()) / 1000;
    if (left_s <= MIN_COUNT_S) break;
    const rows = await count(name, Math.max(left_s / 2, MIN_COUNT_S));
    if (rows !== null) counts.set(name, rows);
  }
  return counts;
}

/** Too little time to count another table. */
const MIN_COUNT_S = 0.1;

/**
 * The known row count of a table at backup time. Neither field is set if there was no time to
 * count.
 */
export interface TableCount {
  readonly name: string;
  /** The rows in the dump. */
  readonly rows?: bigint;
  /** A lower bound, if the exact number is unknown. */
  readonly atLeast?: bigint;
}

/** Signed in a backup's metadata, next to `tables`. */
export interface RowCounts {
  /** All tables. */
  readonly tables: number;
  /** Tables that were counted exactly or have a lower bound. */
  readonly counted: number;
  /** Seconds that counting could take; null if the dump itself was counted. */
  readonly budget_s: number | null;
  /**
   * The tables that did not fit into `tables`; null if all fit, or if not all of them were counted.
   */
  readonly rest: RestCounts | null;
}

export interface RestCounts {
  readonly tables: number;
  readonly rows: number | string;
  /** From `restDigest`. */
  readonly sha256: string;
}

/**
 * What a backup says about a table: enough to tell later whether it changed and how many rows it
 * had.
 */
export interface TableSummary {
  readonly name: string;
  /** The first half of the schema hash of this table alone. */
  readonly schema: string;
  /** Counted in the same snapshot that was dumped; absent if counting would have taken too long. */
  readonly rows?: number | string;
  /** The rows that it has at least, if there is no such snapshot. */
  readonly rows_at_least?: number | string;
}

export interface DescribedTables {
  readonly table_count: number;
  readonly tables: readonly TableSummary[];
  readonly row_counts: RowCounts;
}

/**
 * Names as many tables as fit. First come those without an exact count, so that a digest can cover
 * the rest, then the largest. `counts` contains all tables, the largest first.
 */
export function describeTables(
  lines: readonly SchemaLine[],
  counts: readonly TableCount[],
  { budget_s, limit = MAX_TABLES_LISTED }: { readonly budget_s: number | null; readonly limit?: number },
): DescribedTables {
  const isExact = ({ rows }: TableCount): boolean => rows !== undefined;
  const ranked = [...counts.filter((each) => !isExact(each)), ...counts.filter(isExact)];
  const listed = new Set(ranked.slice(0, limit));
  const rest = ranked.slice(limit);
  return {
    table_count: counts.length,
    tables: counts
      .filter((each) => listed.has(each))
      .map(({ name, rows, atLeast }) => ({
        name,
        schema: tableSchema(lines, name),
        ...(rows === undefined ? {} : { rows: countOf(rows) }),
        ...(atLeast === undefined ? {} : { rows_at_least: countOf(atLeast) }),
      })),
    row_counts: {
      tables: counts.length,
      counted: counts.filter(({ rows, atLeast }) => (rows ?? atLeast) !== undefined).length,
      budget_s,
      rest: rest.length === 0 || !rest.every(isExact) ? null : restOf(rest),
    },
  };
}

function restOf(rest: readonly TableCount[]): RestCounts {
  const counts = rest.map(({ name, rows = 0n }) => [name, rows] as const);
  return {
    tables: counts.length,
    rows: countOf(counts.reduce((sum, [, rows]) => sum + rows, 0n)),
    sha256: restDigest(counts),
  };
}

/** SHA-256 in hex over lines of the JSON array `["name","rows"]`, sorted by code units. */
export function restDigest(counts: readonly (readonly [name: string, rows: bigint])[]): string {
  const lines = counts.map(([name, rows]) => JSON.stringify([name, String(rows)])).toSorted();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

export function countOf(count: bigint): number | string {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : String(count);
}
