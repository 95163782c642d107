import { BSON, BSONRegExp, Double, Long } from "mongodb";
import { expect, test } from "vitest";
import { exactDocument, exactJson, plainDocument } from "./exact-document.ts";

const text = (pairs: Iterable<readonly [string, unknown]>): string =>
  BSON.EJSON.stringify(exactDocument(BSON.serialize(new Map(pairs) as never)));

test("the order of names that are numbers counts, at any depth", () => {
  const two = new Map([
    ["2", 1],
    ["1", 1],
  ]);
  expect(text(two)).not.toBe(text([...two].toReversed()));
  const inside = (pairs: Iterable<readonly [string, unknown]>): string =>
    text([["pipeline", [new Map([["$sort", new Map(pairs)]])]]]);
  expect(inside(two)).not.toBe(inside([...two].toReversed()));
  expect(text([["#1", 1]])).not.toBe(text([["1", 1]]));
  expect(text([["__proto__", 1]])).not.toBe(text([]));
});

test("numbers beyond 2^53 are told apart, and one value has one text in every type", () => {
  const long = (value: bigint): string => text([["n", Long.fromBigInt(value)]]);
  for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 62n, -(2n ** 63n)])
    expect(long(value), String(value)).not.toBe(long(value + 1n));
  expect(long(5n)).toBe(text([["n", 5]]));
  expect(long(10n ** 17n)).toBe(text([["n", new Double(1e17)]]));
});

test("an archive's extended JSON is read as a server's reply", () => {
  const bytes = BSON.serialize(
    new Map<string, unknown>([
      ["2", 1],
      ["1", Long.fromBigInt(2n ** 53n + 1n)],
      ["ü", [new Map([["10", "a"]]), new Map([["9", 'in "2": \\']])]],
      ["at", new Date(1)],
      ["half", 0.5],
      ["word", /^a/i],
    ]) as never,
  );
  const json = String.raw`{ "2" : {"$numberInt":"1"}, "\u0031": {"$numberLong":"9007199254740993"},
    "ü":[{"10":"a"},{"9":"in \"2\": \\"}], "at":{"$date":{"$numberLong":"1"}},
    "half":{"$numberDouble":"0.5"}, "word":{"$regularExpression":{"pattern":"^a","options":"i"}}}`;
  expect(BSON.EJSON.stringify(exactJson(json))).toBe(BSON.EJSON.stringify(exactDocument(bytes)));
});

test("what the driver cannot decode is read all the same", () => {
  const own = (pattern: string): Uint8Array =>
    BSON.serialize({ pipeline: [{ $match: { a: new BSONRegExp(pattern, "x") } }] });
  expect(() => BSON.deserialize(own("(?i)a++"))).toThrow(SyntaxError);
  expect(BSON.EJSON.stringify(exactDocument(own("(?i)a++")))).toContain("(?i)a++");
  const bytes = Buffer.from(BSON.serialize({ a: "XX" }));
  bytes[bytes.indexOf("XX")] = 0xff;
  expect(() => BSON.deserialize(bytes)).toThrow();
  expect(plainDocument(bytes)).toEqual({ a: "\ufffdX" });
});

test("a text that is no JSON is rejected at once", () => {
  expect(() => exactJson(`"${'\\"'.repeat(1 << 20)}`)).toThrow(SyntaxError);
});
