import { Binary, Decimal128, type Document, Double, Int32, Long, ObjectId } from "mongodb";

/** A JSON number, as in RFC 8259 section 6. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A field that no check can compare. */
export class NotAScalar extends Error {
  readonly field: string;
  constructor(field: string) {
    super(`its field ${field} is a document or a list`);
    this.name = "NotAScalar";
    this.field = field;
  }
}

/**
 * Formats a document as a JSON object. Numbers keep their digits, dates are ISO 8601 in UTC, ids
 * and bytes are hex.
 * @throws NotAScalar
 */
export function rowOf(document: Document): string {
  const members = Object.entries(document).map(
    ([name, value]) => `${JSON.stringify(name)}:${valueOf(name, value)}`,
  );
  return `{${members.join(",")}}`;
}

function valueOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint" || value instanceof Long) return value.toString();
  if (typeof value === "number") return numberOf(String(value));
  if (value instanceof Decimal128 || value instanceof Double || value instanceof Int32)
    return numberOf(value.toString());
  if (value instanceof Date)
    return JSON.stringify(Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString());
  if (value instanceof ObjectId) return JSON.stringify(value.toHexString());
  if (value instanceof Binary) return JSON.stringify(`\\x${Buffer.from(value.value()).toString("hex")}`);
  throw new NotAScalar(name);
}

/** `Infinity` and `NaN` become text, so that they compare with no number. */
function numberOf(text: string): string {
  return NUMBER.test(text) ? text : JSON.stringify(text);
}
