import { createHash } from "node:crypto";
import { type SchemaLine, tableSchema } from "./schema.ts";

/** As many tables as a receipt has room for; the hash covers them all. */
export const MAX_TABLES_LISTED = 300;
/** What counting may cost the source in all, at each look. The signed metadata name it. */
export const COUNTING_S = 60;

/**
 * Counts tables one after the other, given the smallest first. Each may take half of the time that
 * is left: a single one that is larger than it looked, or that somebody locked, never takes the
 * time of all others. What `count` gives null for has no count.
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

/** Too short to count anything that is not counted yet. */
const MIN_COUNT_S = 0.1;

/**
 * What is known of a table's rows at backup time: neither field, if there was no time to count
 * them.
 */
export interface TableCount {
  readonly name: string;
  /** In what was dumped. */
  readonly rows?: bigint;
  /** Where nobody knows the exact number. */
  readonly atLeast?: bigint;
}

/** Signed in a backup's metadata, beside `tables`. */
export interface RowCounts {
  /** All of them. */
  readonly tables: number;
  /** Those whose rows were counted, exactly or as a floor. */
  readonly counted: number;
  /** Seconds that counting could take; null where the dump itself was counted. */
  readonly budget_s: number | null;
  /**
   * The tables that `tables` has no room for; null if there are none, or if not all of them were
   * counted.
   */
  readonly rest: RestCounts | null;
}

export interface RestCounts {
  readonly tables: number;
  readonly rows: number | string;
  /** Of `restDigest`. */
  readonly sha256: string;
}

/**
 * What a backup says of a table: enough to tell later which one changed, and how many rows it had.
 */
export interface TableSummary {
  readonly name: string;
  /** The first half of the schema hash of this table alone. */
  readonly schema: string;
  /** As counted in the very snapshot that was dumped; absent if that would have taken too long. */
  readonly rows?: number | string;
  /** Where there is no such snapshot: what it must have at least. */
  readonly rows_at_least?: number | string;
}

export interface DescribedTables {
  readonly table_count: number;
  readonly tables: readonly TableSummary[];
  readonly row_counts: RowCounts;
}

/**
 * Names as many tables as there is room for: first those without an exact count, so that the rest
 * can be held to a digest, then the largest. `counts` has every table, the largest first.
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

/** SHA-256 in hex over `["name","rows"]` as JSON, one a line, sorted by code units. */
export function restDigest(counts: readonly (readonly [name: string, rows: bigint])[]): string {
  const lines = counts.map(([name, rows]) => JSON.stringify([name, String(rows)])).toSorted();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

export function countOf(count: bigint): number | string {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : String(count);
}
