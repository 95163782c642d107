import { createHash } from "node:crypto";
import { canonicalJson } from "@attestore/proof";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatRow } from "./format-row.ts";
import { observedRecord } from "./observed.ts";
import { parseRow } from "./row.ts";

const record = (row: string, error: string | null = null): Record<string, unknown> =>
  observedRecord(parseRow(row), error);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

test("a number that JSON holds exactly is recorded as it is, any other in its own digits", () => {
  const row = `{"n":9007199254740991,"m":-3,"big":9007199254740992,"frac":12.50,"zero":-0,"exp":1e3,"t":"12.50","b":false,"x":null,"j":[1.0, {}]}`;
  expect(record(row)).toEqual({
    n: 9007199254740991,
    m: -3,
    big: { number: "9007199254740992" },
    frac: { number: "12.50" },
    zero: { number: "-0" },
    exp: { number: "1e3" },
    t: "12.50",
    b: false,
    x: null,
    j: { json: "[1.0, {}]" },
  });
});

test("long values are cut, and say so by their length and digest", () => {
  const text = `${"x".repeat(255)}😀${"y".repeat(100)}`;
  expect(record(formatRow([["t", text]]))).toEqual({
    t: { text: "x".repeat(255), length: 357, sha256: sha256(text) },
  });
  const digits = "7".repeat(300);
  expect(record(`{"n":${digits}}`)).toEqual({
    n: { number: "7".repeat(256), length: 300, sha256: sha256(digits) },
  });
});

test("columns without room are counted", () => {
  const row = formatRow(Array.from({ length: 10 }, (_, i) => [`c${i}`, "x".repeat(200)] as const));
  expect(Object.keys(record(row))).toEqual(["c0", "c1", "c2", "c3", "…"]);
  expect(record(row)).toHaveProperty("…", "no space for 6 of 10 columns");
});

test("a column's name cannot be mistaken for the reason, or for the note of what was left out", () => {
  expect(record(`{"error":"all is well","\\"error\\"":1,"…":2,"errors":3}`, "it failed")).toEqual({
    error: "it failed",
    '"error"': "all is well",
    '""error""': 1,
    '"…"': 2,
    errors: 3,
  });
});

test("every row has a record that can be signed, in bounds, with a member for each column recorded", () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.bigInt(),
    fc.double(),
    fc.string({ unit: "binary", maxLength: 400 }),
  );
  const names = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.constantFrom("error", "…", "__proto__", "10"),
  );
  const columns = fc.uniqueArray(fc.tuple(names, value), { selector: ([name]) => name, maxLength: 32 });
  fc.assert(
    fc.property(columns, fc.option(fc.string({ unit: "binary", maxLength: 600 })), (given, error) => {
      const observed = record(formatRow(given), error);
      const json = canonicalJson(observed);
      expect(Buffer.byteLength(json)).toBeLessThan(1_024 + 1_700);
      const isCut = Object.hasOwn(observed, "…");
      const others = Object.keys(observed).length - Number(isCut) - Number(error !== null);
      expect(isCut ? others < given.length : others === given.length).toBe(true);
    }),
  );
});
