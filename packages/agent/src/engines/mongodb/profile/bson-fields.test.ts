import {
  Binary,
  BSON,
  BSONRegExp,
  Code,
  Decimal128,
  Int32,
  Long,
  MaxKey,
  ObjectId,
  Timestamp,
} from "mongodb";
import { expect, test } from "vitest";
import fc from "fast-check";
import { eachField, type FieldValue, MalformedBson } from "./bson-fields.ts";

function fieldsOf(document: Buffer): Map<string, FieldValue> {
  const found = new Map<string, FieldValue>();
  eachField(document, (path, value) => found.set(path, value));
  return found;
}
const encoded = (document: object): Buffer => Buffer.from(BSON.serialize(document));

test("each field of each type is found with its path, none in a list, and null is none", () => {
  const found = fieldsOf(
    encoded({
      _id: new ObjectId("0123456789abcdef01234567"),
      text: "ü".repeat(300),
      raw: new Binary(Buffer.from("chair")),
      at: new Date(5),
      price: 1.5,
      count: new Int32(7),
      large: Long.MAX_VALUE,
      exact: Decimal128.fromString("1.10"),
      yes: true,
      nothing: null,
      list: ["a", { b: 1 }],
      address: { city: "Ulm", in: { deep: "x", deeper: { not: 1 } } },
      pattern: new BSONRegExp("a", "i"),
      code: new Code("x", { a: 1 }),
      time: new Timestamp({ t: 1, i: 2 }),
      last: new MaxKey(),
      end: "end",
    }),
  );
  expect([...found.keys()]).toEqual([
    ..."_id text raw at price count large exact yes list".split(" "),
    "address.city",
    "address.in.deep",
    "address.in.deeper",
    ..."pattern code time last end".split(" "),
  ]);
  expect(found.get("text")).toEqual({ kind: "text", start: "ü".repeat(128), bytes: 600 });
  expect(found.get("raw")).toEqual({ kind: "bytes", start: Buffer.from("chair"), bytes: 5 });
  expect(found.get("at")).toEqual({ kind: "time", at_ms: 5 });
  expect(found.get("price")).toEqual({ kind: "plain", value: "1.5" });
  expect(found.get("large")).toEqual({ kind: "plain", value: "9223372036854775807" });
  expect(found.get("list")).toEqual({ kind: "other" });
});

test("names that are data are passed over", () => {
  const names = [
    "anna@example.com",
    "+49 731 12",
    "0123456789abcdef01234567",
    "a1b2c3d4e5f6",
    "2026-11-23",
    "",
    "ü",
    "x".repeat(70),
  ];
  expect([
    ...fieldsOf(
      encoded(Object.fromEntries([...names, "good", "line2", "user_id"].map((name) => [name, 1]))),
    ).keys(),
  ]).toEqual(["good", "line2", "user_id"]);
});

test("anything but a document is refused", () => {
  const good = encoded({
    a: "text",
    b: { c: [1, 2] },
    d: new Binary(Buffer.alloc(9)),
    e: new BSONRegExp("a"),
    f: new Code("x", {}),
  });
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
      const bad = Buffer.from(good);
      bad[at] = byte;
      try {
        fieldsOf(bad);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedBson);
      }
    }),
    { numRuns: 3000 },
  );
  for (let length = 0; length < good.length; length += 1)
    expect(() => fieldsOf(good.subarray(0, length))).toThrow(MalformedBson);
  let deep: object = {};
  for (let depth = 0; depth < 50; depth += 1) deep = { a: deep };
  expect(fieldsOf(encoded(deep)).size).toBe(1);
});
