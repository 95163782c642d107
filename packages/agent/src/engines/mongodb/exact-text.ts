import { BSON } from "mongodb";

/**
 * A text for BSON that tells everything apart that a server does: types, bytes of texts that are
 * not UTF-8, names that come twice, each option of a regular expression. It decodes nothing, so
 * nothing is too odd for it.
 */

/** How values are compared. */
export interface Exactness {
  /** Whether 1 as an integer differs from 1 as a double. */
  readonly typed: boolean;
  /** Whether the order of names means nothing. */
  readonly sorted: boolean;
}

/** A document's field. */
export interface Field {
  readonly name: string;
  readonly type: number;
  readonly value: Buffer;
}

type Tree = string | readonly Tree[];

const { BSONType } = BSON;

/** In the document's order. A name that comes twice is there twice. */
export function fieldsOf(document: Uint8Array): Field[] {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  return [...BSON.onDemand.parseToElements(bytes)].map(([type, nameAt, nameLength, at, length]) => ({
    name: bytes.toString("latin1", nameAt, nameAt + nameLength),
    type,
    value: bytes.subarray(at, at + length),
  }));
}

/** The document in a field; null if it holds another value. */
export function documentIn(fields: readonly Field[], name: string): Buffer | null {
  const found = fields.find((each) => each.name === name && each.type === BSONType.object);
  return found?.value ?? null;
}

/** Some of a document's fields, each by its own rule. */
export function exactText(
  fields: readonly Field[],
  { sorted, ruleOf }: { readonly sorted: boolean; readonly ruleOf: (name: string) => Exactness },
): string {
  return JSON.stringify(
    listed(fields, sorted).map((field) => [field.name, treeOf(field, ruleOf(field.name))]),
  );
}

function treeOf({ type, value }: Field, rule: Exactness): Tree {
  switch (type) {
    case BSONType.object:
      return [
        "document",
        ...listed(fieldsOf(value), rule.sorted).map((field): Tree => [field.name, treeOf(field, rule)]),
      ];
    case BSONType.array:
      return ["list", ...fieldsOf(value).map((field) => treeOf(field, rule))];
    case BSONType.regex: {
      const [pattern = "", options = ""] = value.toString("latin1").split("\0");
      // Their order means nothing, and mongodump sorts them.
      return ["regex", pattern, options.split("").toSorted().join("")];
    }
    case BSONType.double:
      return rule.typed ? hexOf(type, value) : numberText(value.readDoubleLE());
    case BSONType.int:
      return rule.typed ? hexOf(type, value) : numberText(value.readInt32LE());
    case BSONType.long:
      return rule.typed ? hexOf(type, value) : ["number", String(value.readBigInt64LE())];
    default:
      return hexOf(type, value);
  }
}

function listed(fields: readonly Field[], sorted: boolean): readonly Field[] {
  return sorted ? fields.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) : fields;
}

/** A server may keep a number as any of three types. */
function numberText(number: number): Tree {
  return ["number", Number.isInteger(number) ? String(BigInt(number)) : String(number)];
}

function hexOf(type: number, value: Buffer): Tree {
  return [String(type), value.toString("hex")];
}
