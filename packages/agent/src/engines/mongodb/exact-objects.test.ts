import { BSON, BSONRegExp, BSONSymbol, type Document, Double, Int32, Long, UUID } from "mongodb";
import { describe, expect, test } from "vitest";
import { exactObjects } from "./exact-objects.ts";

/** What a restore must bring back of collections, views and indexes, of every server. */

type Pairs = Document | Iterable<readonly [string, unknown]>;
const bson = (of: Pairs): Buffer => Buffer.from(BSON.serialize(of as Document, { ignoreUndefined: false }));

function collection(options: Pairs, more: Document = {}): string {
  const listed = bson({ name: "t", type: "collection", ...more, options: BSON.deserialize(bson({})) });
  return of(withOptions(listed, bson(options)))[0]!.definition;
}

/** As the server has it: whatever the driver would make of it. */
function withOptions(listed: Buffer, options: Buffer): Buffer {
  const empty = Buffer.from([3, ...Buffer.from("options\0"), 5, 0, 0, 0, 0]);
  const at = listed.indexOf(empty);
  const whole = Buffer.concat([listed.subarray(0, at + 9), options, listed.subarray(at + empty.length)]);
  whole.writeInt32LE(whole.length, 0);
  return whole;
}

const of = (listed: Uint8Array, indexes: readonly Uint8Array[] = [], name = "t") =>
  exactObjects({ database: "shop", collection: name, isView: false, listed, indexes });

const index = (options: Pairs): string =>
  of(bson({ name: "t", options: {} }), [bson(options)])[1]!.definition;

const BY_A = { v: 2, key: { a: 1 }, name: "a_1" };

describe("an option that is another one, or is not there, counts", () => {
  const OPTIONS: readonly [string, unknown, unknown?][] = [
    ["capped", true],
    ["size", 4096, 8192],
    ["max", 5, 6],
    ["validator", { a: { $gt: 1 } }, { a: { $gte: 1 } }],
    ["validationLevel", "moderate", "strict"],
    ["validationAction", "warn", "error"],
    ["collation", { locale: "de", strength: 3 }, { locale: "de", strength: 2 }],
    ["timeseries", { timeField: "at", granularity: "hours" }, { timeField: "at", granularity: "minutes" }],
    ["expireAfterSeconds", 3600, 3601],
    [
      "clusteredIndex",
      { v: 2, key: { _id: 1 }, name: "a", unique: true },
      { v: 2, key: { _id: 1 }, name: "b", unique: true },
    ],
    ["changeStreamPreAndPostImages", { enabled: true }, { enabled: false }],
    ["encryptedFields", { fields: [{ path: "a", bsonType: "string" }] }, { fields: [] }],
    ["storageEngine", { wiredTiger: { configString: "block_compressor=zlib" } }, { wiredTiger: {} }],
    ["indexOptionDefaults", { storageEngine: {} }],
    ["recordPreImages", true],
    ["viewOn", "a", "b"],
    ["pipeline", [{ $match: { a: 1 } }, { $sort: { a: 1 } }], [{ $sort: { a: 1 } }, { $match: { a: 1 } }]],
    ["autoIndexId", false],
  ];
  test.each(OPTIONS)("of a collection or view: %s", (name, value, other) => {
    const own = collection({ [name]: value });
    expect(own).not.toBe(collection({}));
    if (other !== undefined) expect(own).not.toBe(collection({ [name]: other }));
  });

  const OF_INDEXES: readonly [string, unknown, unknown?][] = [
    ["unique", true],
    ["prepareUnique", true],
    ["sparse", true],
    ["hidden", true],
    ["clustered", true],
    ["expireAfterSeconds", 60, 61],
    ["partialFilterExpression", { a: { $gt: 5 } }, { a: { $gt: 6 } }],
    ["collation", { locale: "de" }, { locale: "fr" }],
    ["weights", { a: 1, b: 2 }, { a: 2, b: 1 }],
    ["default_language", "german", "english"],
    ["language_override", "idioma", "language"],
    ["textIndexVersion", 3, 2],
    ["2dsphereIndexVersion", 3, 2],
    ["bits", 26, 27],
    ["min", -180, -181],
    ["max", 180, 181],
    ["wildcardProjection", { a: 1 }, { a: 0 }],
    ["storageEngine", { wiredTiger: {} }],
  ];
  test.each(OF_INDEXES)("of an index: %s", (name, value, other) => {
    const own = index({ ...BY_A, [name]: value });
    expect(own).not.toBe(index(BY_A));
    if (other !== undefined) expect(own).not.toBe(index({ ...BY_A, [name]: other }));
  });

  test("a time series is no collection", () => {
    expect(collection({}, { type: "timeseries" })).not.toBe(collection({}));
  });

  test.each([["hashed"], ["text"], ["2dsphere"], ["2d"], [-1]])("a key of the kind %s", (kind) => {
    expect(index({ ...BY_A, key: { a: kind } })).not.toBe(index(BY_A));
  });
});

describe("in expressions everything counts that a server tells apart", () => {
  const inPipeline = (value: unknown): string => collection({ pipeline: [{ $match: { a: value } }] });
  test.each([
    ["the type of a number", new Int32(1), new Double(1)],
    ["a long and a double", Long.fromNumber(1), new Double(1)],
    ["the sign of zero", new Double(0), new Double(-0)],
    ["an option of a regular expression", new BSONRegExp("a", "x"), new BSONRegExp("a", "")],
    [
      "an expression that JavaScript does not have",
      new BSONRegExp("(?i)a++", ""),
      new BSONRegExp("(?i)a", ""),
    ],
    ["a symbol and a text", new BSONSymbol("a"), "a"],
    ["the order of names", { x: 1, y: 1 }, { y: 1, x: 1 }],
    [
      "names that are numbers",
      new Map([
        ["2", 1],
        ["1", 1],
      ]),
      new Map([
        ["1", 1],
        ["2", 1],
      ]),
    ],
  ])("%s", (_, one, other) => {
    expect(inPipeline(one)).not.toBe(inPipeline(other));
    expect(collection({ validator: { a: one } })).not.toBe(collection({ validator: { a: other } }));
    expect(index({ ...BY_A, partialFilterExpression: { a: one } })).not.toBe(
      index({ ...BY_A, partialFilterExpression: { a: other } }),
    );
  });

  test("undefined and null, a name that is there twice, and a text that is not UTF-8", () => {
    const renamed = (value: Document, from: string, to: Buffer): string => {
      const options = bson({ validator: value });
      const at = options.indexOf(from);
      to.copy(options, at);
      return of(withOptions(bson({ name: "t", options: {} }), options))[0]!.definition;
    };
    const asType = (type: number): string => renamed({ a: null }, "\u000aa\0", Buffer.of(type, 0x61, 0));
    expect(asType(0x06)).not.toBe(asType(0x0a));
    const twice = (first: number): string => renamed({ ax: first, ay: 2 }, "ay", Buffer.from("ax"));
    expect(twice(1)).not.toBe(twice(3));
    const text = (byte: number): string => renamed({ a: "XX" }, "XX", Buffer.of(byte, 0x58));
    expect(text(0xff)).not.toBe(text(0xfe));
  });
});

describe("what a right restore changes does not count", () => {
  test.each([
    [
      "the id, and how the copy is replicated",
      { uuid: new UUID(), recordIdsReplicated: true, autoIndexId: true },
    ],
    ["the order of options", {}],
  ])("of a collection: %s", (_, more) => {
    expect(collection({ ...more, size: 5, capped: true })).toBe(collection({ capped: true, size: 5 }));
  });

  test("the type of an option's number", () => {
    expect(collection({ size: new Double(5) })).toBe(collection({ size: Long.fromNumber(5) }));
    expect(collection({ size: Long.fromBigInt(2n ** 53n + 1n) })).not.toBe(collection({ size: 2 ** 53 }));
    expect(index({ ...BY_A, key: { a: new Double(1) } })).toBe(index(BY_A));
  });

  test("the version of an index, and the order in which mongorestore writes options", () => {
    const options = { wildcardProjection: { b: { d: 0, c: 0 }, a: 0 }, sparse: true };
    const sorted = { sparse: true, wildcardProjection: { a: 0, b: { c: 0, d: 0 } } };
    expect(index({ ...BY_A, v: 1, ns: "shop.t", background: true, ...options })).toBe(
      index({ ...sorted, ...BY_A }),
    );
  });

  test("the order of a regular expression's options", () => {
    const of = (options: string): string => collection({ validator: { a: new BSONRegExp("a", options) } });
    expect(of("im")).toBe(of("mi"));
  });
});

test("names with spaces are not taken for others", () => {
  const listed = bson({ name: "t", options: {} });
  const first = of(listed, [bson({ ...BY_A, name: "old by_a" })], "orders")[1];
  const second = of(listed, [bson({ ...BY_A, name: "by_a" })], "orders old")[1];
  expect(first?.name).toBe(second?.name);
  expect(first?.definition).not.toBe(second?.definition);
});
