/** A driver's value: `node:sqlite`'s types, and booleans. */
export type DriverValue = null | boolean | number | bigint | string | Uint8Array;

/**
 * A row as the JSON text that `parseRow` reads, from columns in their order. Bytes become text,
 * `\x` and hex. Numbers that JSON lacks become their names, `Infinity` and `NaN`. Both are as in
 * PostgreSQL's `to_jsonb`: text, so no number compares with them.
 */
export function formatRow(columns: Iterable<readonly [name: string, value: DriverValue]>): string {
  const members = Array.from(columns, ([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`);
  return `{${members.join(",")}}`;
}

function jsonOf(value: DriverValue): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (value instanceof Uint8Array) return JSON.stringify(`\\x${Buffer.from(value).toString("hex")}`);
  return JSON.stringify(value);
}
