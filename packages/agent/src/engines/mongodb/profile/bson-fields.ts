/**
 * A value of a document: the start of a text or of bytes, a time, or a value that is only counted.
 */
export type FieldValue =
  | { readonly kind: "text"; readonly start: string; readonly bytes: number }
  | { readonly kind: "bytes"; readonly start: Buffer; readonly bytes: number }
  | { readonly kind: "time"; readonly at_ms: number }
  | { readonly kind: "plain"; readonly value: string }
  | { readonly kind: "other" };

/** Documents inside of documents are looked into so far. */
const MAX_DEPTH = 3;
const MAX_NAME = 64;
const LOOKED_AT = 256;
const MIN_DOCUMENT = 5;
/** A name that a program gave. Other keys, such as addresses, are data. */
const NAME = /^[A-Za-z_][A-Za-z_-]{0,40}[0-9]{0,3}[A-Za-z_]{0,20}$/;

/** The size of values whose size is fixed, by their type. */
const FIXED: Readonly<Record<number, number>> = {
  0x01: 8,
  0x07: 12,
  0x08: 1,
  0x09: 8,
  0x10: 4,
  0x11: 8,
  0x12: 8,
  0x13: 16,
  0x06: 0,
  0x0a: 0,
  0xff: 0,
  0x7f: 0,
};

/** Not BSON, or not by its rules. */
export class MalformedBson extends Error {}

/**
 * Calls `onField` for each value of a document that is neither null nor in a list, with its path:
 * `address.city`; `onNull` for each null. It builds no objects: a document may be made of millions
 * of tiny ones.
 * @throws MalformedBson
 */
export function eachField(
  document: Buffer,
  onField: (path: string, value: FieldValue) => void,
  onNull: (path: string) => void = () => undefined,
): void {
  walk(document, "", 1, { onField, onNull });
}

interface Listener {
  readonly onField: (path: string, value: FieldValue) => void;
  readonly onNull: (path: string) => void;
}

function walk(document: Buffer, prefix: string, depth: number, listener: Listener): void {
  if (document.length < MIN_DOCUMENT || document.readInt32LE(0) !== document.length)
    throw new MalformedBson("a document's length is wrong");
  const end = document.length - 1;
  for (let at = 4; at < end;) {
    const type = document[at] ?? 0;
    const nameEnd = document.indexOf(0, at + 1);
    if (nameEnd === -1 || nameEnd >= end) throw new MalformedBson("a name has no end");
    const name = nameEnd - at - 1 > MAX_NAME ? "" : document.toString("latin1", at + 1, nameEnd);
    const from = nameEnd + 1;
    const size = sizeOf(document, type, from);
    if (size < 0 || from + size > end) throw new MalformedBson("a value is longer than its document");
    at = from + size;
    if (!NAME.test(name)) continue;
    const path = prefix + name;
    const value = document.subarray(from, at);
    if (type === 0x03 && depth < MAX_DEPTH) walk(value, `${path}.`, depth + 1, listener);
    else {
      const found = valueOf(type, value);
      if (found === null) listener.onNull(path);
      else listener.onField(path, found);
    }
  }
}

function sizeOf(document: Buffer, type: number, from: number): number {
  const fixed = FIXED[type];
  if (fixed !== undefined) return fixed;
  if (type === 0x0b) {
    const first = document.indexOf(0, from);
    const second = first === -1 ? -1 : document.indexOf(0, first + 1);
    return second === -1 ? -1 : second + 1 - from;
  }
  if (from + 4 > document.length) return -1;
  const length = document.readInt32LE(from);
  if (length < 0) return -1;
  switch (type) {
    case 0x02:
    case 0x0d:
    case 0x0e:
      return length < 1 ? -1 : 4 + length;
    case 0x03:
    case 0x04:
    case 0x0f:
      return length < MIN_DOCUMENT ? -1 : length;
    case 0x05:
      return 5 + length;
    case 0x0c:
      return 4 + length + 12;
    default:
      throw new MalformedBson("a value is of an unknown type");
  }
}

/** Null for null. */
function valueOf(type: number, value: Buffer): FieldValue | null {
  switch (type) {
    case 0x01:
      return { kind: "plain", value: String(value.readDoubleLE()) };
    case 0x02: {
      const bytes = value.length - 5;
      return { kind: "text", start: value.toString("utf8", 4, 4 + Math.min(bytes, LOOKED_AT)), bytes };
    }
    case 0x05:
      return { kind: "bytes", start: value.subarray(5, 5 + LOOKED_AT), bytes: value.length - 5 };
    case 0x06:
    case 0x0a:
      return null;
    case 0x09:
      return { kind: "time", at_ms: Number(value.readBigInt64LE()) };
    case 0x10:
      return { kind: "plain", value: String(value.readInt32LE()) };
    case 0x12:
      return { kind: "plain", value: String(value.readBigInt64LE()) };
    case 0x07:
    case 0x08:
    case 0x13:
      return { kind: "plain", value: value.toString("hex") };
    default:
      return { kind: "other" };
  }
}
