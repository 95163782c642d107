import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type DriverValue, formatRow } from "./format-row.ts";
import { MalformedRow, parseRow, type Value } from "./row.ts";

const shown = (value: Value): unknown => {
  if (value.kind === "null") return null;
  return value.kind === "number" || value.kind === "json" ? `${value.kind} ${value.text}` : value.value;
};
const read = (text: string): unknown[] => parseRow(text).map(({ name, value }) => [name, shown(value)]);

describe("a row", () => {
  it("keeps the order of its columns and the digits of its numbers", () => {
    expect(read(`{"b":9007199254740993,"10":1.10,"2":-0,"a":1e400,"__proto__":null}`)).toEqual([
      ["b", "number 9007199254740993"],
      ["10", "number 1.10"],
      ["2", "number -0"],
      ["a", "number 1e400"],
      ["__proto__", null],
    ]);
  });

  it("is read whatever its white space, escapes and nesting", () => {
    const text = ` {\n"a\\"}," : "\\\\" , "n": {"x":[1,{"y":"],}"}]},"l":[ ],"t":true,"f":false , "e":"" }\n`;
    expect(read(text)).toEqual([
      [`a"},`, "\\"],
      ["n", `json {"x":[1,{"y":"],}"}]}`],
      ["l", "json [ ]"],
      ["t", true],
      ["f", false],
      ["e", ""],
    ]);
    expect(read("{}")).toEqual([]);
  });

  it.each([
    ["", "not JSON"],
    ["{", "not JSON"],
    ["{'a':1}", "not JSON"],
    [`{"a":NaN}`, "not JSON"],
    ["[]", "not a JSON object"],
    ["null", "not a JSON object"],
    ["3", "not a JSON object"],
    [`"{}"`, "not a JSON object"],
    [`{"n":1,"n":1}`, "two columns"],
    [`{"n":1,"\\u006e":2}`, "two columns"],
    [`{"a":1e99999999999}`, "out of range"],
    [`{"a":"\\ud800"}`, "lone surrogate"],
    [`{"\\udc00":1}`, "lone surrogate"],
    [`{"a":["\ud800"]}`, "lone surrogate"],
    [`{${Array.from({ length: 33 }, (_, i) => `"c${i}":1`).join(",")}}`, "33 columns"],
    [`{"a":"${"x".repeat(262_144)}"}`, "larger than"],
  ])("%.30j is refused", (text, why) => {
    expect(() => parseRow(text)).toThrow(MalformedRow);
    expect(() => parseRow(text)).toThrow(why);
  });

  it("is read without recursion, however deep or long it is", () => {
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(parseRow(deep)).toHaveLength(1);
    const long = "\\\\".repeat(131_000);
    expect(read(`{"a":"${long}"}`)).toEqual([["a", "\\".repeat(131_000)]]);
  });
});

test("any text is a row or malformed, and nothing else", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc
      .array(fc.constantFrom("{", "}", "[", "]", ":", ",", `"`, "\\", `"a"`, "1", "-", "e", "null", "\ud800"))
      .map((parts) => parts.join("")),
    fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(text, (each) => {
      try {
        parseRow(each);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedRow);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a driver's values are read back unchanged", () => {
  const value: fc.Arbitrary<Exclude<DriverValue, Uint8Array>> = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.bigInt(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.string({ unit: "binary" }),
  );
  const columns = fc.uniqueArray(fc.tuple(fc.string({ unit: "binary" }), value), {
    selector: ([name]) => name,
    maxLength: 32,
  });
  fc.assert(
    fc.property(columns, (given) => {
      const back = parseRow(formatRow(given)).map(({ name, value: found }) => {
        if (found.kind !== "number") return [name, shown(found)];
        const isDouble = given.find(([each]) => each === name)?.[1];
        return [name, typeof isDouble === "bigint" ? BigInt(found.text) : Number(found.text)];
      });
      expect(back).toEqual(given);
    }),
  );
});

test("SQLite's own values: counts beyond 2^53, infinity, bytes, and columns with the names it gives them", () => {
  using database = new DatabaseSync(":memory:");
  const statement = database.prepare(
    "select count(*), 9223372036854775807 as most, 9e999 as inf, x'00ff' as raw, 0.1 + 0.2 as sum",
  );
  statement.setReadBigInts(true);
  const row = Object.entries(statement.get() ?? {});
  expect(read(formatRow(row))).toEqual([
    ["count(*)", "number 1"],
    ["most", "number 9223372036854775807"],
    ["inf", "Infinity"],
    ["raw", "\\x00ff"],
    ["sum", "number 0.30000000000000004"],
  ]);
});
