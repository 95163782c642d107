import { BSON, type Document } from "mongodb";

/**
 * Documents in which two things are exact that JavaScript and relaxed extended JSON are not: the
 * order of names that are numbers, which an object sorts, and numbers beyond 2^53.
 */

/** Put before each name that an object would sort, or that would be its prototype. */
const MARK = "#";
/** Those names, and those that begin like a marked one. */
const MARKED = /^(?:0|[1-9][0-9]{0,9}|__proto__|#.*)$/s;
/** A text in JSON, and whether it is a name. */
const JSON_TEXT = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;
const MAX_LONG = 2 ** 63;

export function exactDocument(bytes: Uint8Array): Document {
  return exactNumbers(inOrder(plainDocument(bytes), bytes)) as Document;
}

/**
 * As the driver reads documents. It cannot read regular expressions that JavaScript does not have,
 * nor texts that are not UTF-8; MongoDB stores both.
 */
export function plainDocument(bytes: Uint8Array): Document {
  try {
    return BSON.deserialize(bytes, { useBigInt64: true });
  } catch {
    return BSON.deserialize(bytes, {
      useBigInt64: true,
      bsonRegExp: true,
      validation: { utf8: false },
    });
  }
}

/** @throws SyntaxError and others, if it is no extended JSON. */
export function exactJson(text: string): Document {
  // Of a text that is no JSON, the search below may take time without end.
  JSON.parse(text);
  const marked = text.replace(JSON_TEXT, (whole, name: string, colon: string | undefined) =>
    colon !== undefined && MARKED.test(JSON.parse(`"${name}"`) as string)
      ? `"${MARK}${name}"${colon}`
      : whole,
  );
  return exactNumbers(BSON.EJSON.parse(marked, { useBigInt64: true })) as Document;
}

function inOrder(value: unknown, bytes: Uint8Array): unknown {
  if (!isPlain(value) && !Array.isArray(value)) return value;
  const entries: [name: string, value: unknown][] = [];
  for (const [type, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(bytes)) {
    const name = Buffer.from(bytes.subarray(nameAt, nameAt + nameLength)).toString("utf8");
    const own = (value as Document)[name] as unknown;
    const isDocument = type === BSON.BSONType.object || type === BSON.BSONType.array;
    entries.push([name, isDocument ? inOrder(own, bytes.subarray(at, at + length)) : own]);
  }
  if (Array.isArray(value)) return entries.map(([, each]) => each);
  return Object.fromEntries(entries.map(([name, each]) => [MARKED.test(name) ? MARK + name : name, each]));
}

/** A number has one text, whatever its type: a server may store 1 as a long or a double. */
function exactNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return exactNumber(value);
  if (typeof value === "number")
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) <= MAX_LONG
      ? exactNumber(BigInt(value))
      : value;
  if (Array.isArray(value)) return value.map(exactNumbers);
  return isPlain(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exactNumbers(each)]))
    : value;
}

function exactNumber(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : { $numberLong: String(value) };
}

function isPlain(value: unknown): value is Document {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
