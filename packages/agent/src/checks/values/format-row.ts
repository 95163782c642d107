import { clip } from "../clip.ts";

/** A driver's value: `node:sqlite`'s types, and booleans. */
export type DriverValue = null | boolean | number | bigint | string | Uint8Array;

/** A column of a row, with its value. */
export type Cell = readonly [name: string, value: DriverValue];

/**
 * A row as the JSON text that `parseRow` reads, from columns in their order. Bytes become text,
 * `\x` and hex. Numbers that JSON lacks become their names, `Infinity` and `NaN`. Both are as in
 * PostgreSQL's `to_jsonb`: text, so no number compares with them.
 */
export function formatRow(columns: Iterable<Cell>): string {
  const members = Array.from(columns, ([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`);
  return `{${members.join(",")}}`;
}

/** How many there are, and which, up to `maxText` characters; no columns if there are none. */
export function namesCells(
  count: string,
  list: string,
  names: readonly string[],
  maxText = Number.POSITIVE_INFINITY,
): Cell[] {
  if (names.length === 0) return [];
  return [
    [count, names.length],
    [list, clip(names.join(", "), maxText)],
  ];
}

function jsonOf(value: DriverValue): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (value instanceof Uint8Array) return JSON.stringify(`\\x${Buffer.from(value).toString("hex")}`);
  return JSON.stringify(value);
}
