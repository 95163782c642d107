import { Decimal } from "./decimal.ts";
import type { Value } from "./query-result.ts";

const MAX_TEXT = 120;
const MAX_JSON = 1_024;

/**
 * A row as JSON for the receipt: what the check selected, and no more than a kilobyte of it. Numbers are JSON numbers
 * where that is exact, else texts.
 */
export function observedRow(row: ReadonlyMap<string, Value>): Record<string, unknown> {
  const observed: Record<string, unknown> = {};
  let length = 2;
  for (const [column, value] of row) {
    const shown = shorten(column);
    const json = jsonOf(value);
    length += JSON.stringify(shown).length + JSON.stringify(json).length + 2;
    if (length > MAX_JSON) {
      observed["…"] = `${row.size - Object.keys(observed).length} columns more`;
      return observed;
    }
    Object.defineProperty(observed, shown, {
      value: json,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return observed;
}

function jsonOf(value: Value): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (value instanceof Decimal) {
    const json = value.toJson();
    return typeof json === "string" ? shorten(json) : json;
  }
  return shorten(typeof value === "string" ? value : `(${value.other})`);
}

/** Well-formed, too: what is signed is canonical JSON, which lone surrogates have no place in. */
export function shorten(text: string, max = MAX_TEXT): string {
  return (text.length <= max ? text : `${text.slice(0, max - 1)}…`).toWellFormed();
}
