import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { anyText, column, compounds, expressions, number } from "../../../test/arbitrary-expressions.ts";
import { ExpectationError } from "./expectation-error.ts";
import { type ColumnName, type Expression, type Literal, printExpectation } from "./expression.ts";
import { columnsOf } from "./columns-of.ts";
import { parseExpectation } from "./parse.ts";

function mistake(text: string): ExpectationError {
  try {
    parseExpectation(text);
  } catch (error) {
    if (error instanceof ExpectationError) return error;
    throw error;
  }
  throw new TypeError(`${text} is an expression`);
}

describe("an expression", () => {
  it.each([
    ["n>=1000", "n >= 1000"],
    ["n == 1 AND m <> -2.5e3", "n = 1 and m != -2.5e3"],
    ["a or b and not c", "a or (b and not c)"],
    ["(a or b) and c", "(a or b) and c"],
    ["not a = 1 or b", "not a = 1 or b"],
    ["not (a = 1 or b)", "not (a = 1 or b)"],
    ["n BETWEEN 1 AND 2 and m", "n between 1 and 2 and m"],
    ["n not between a and b", "not n between a and b"],
    ["n in(1,2) or s NOT IN ('a', 'it''s')", "n in (1, 2) or not s in ('a', 'it''s')"],
    ["x is null and y IS NOT NULL", "x is null and not y is null"],
    [`"count(*)" > 0 and "a ""b""" = 'c'`, `"count(*)" > 0 and "a ""b""" = 'c'`],
    ["5 < n", "5 < n"],
    ["fresh = true and stale != FALSE", "fresh = true and stale != false"],
    ["größe_2 > .5", "größe_2 > .5"],
    ["\n\tn\r\n= 1 ", "n = 1"],
    [`"and" = 1`, `"and" = 1`],
    ["((((n = 1))))", "n = 1"],
    ["Age( newest )<26h", "age(newest) < 26h"],
    [`1d12h >= age("At")`, `1d12h >= age("At")`],
    ["age(a) not between 1s and age(b)", "not age(a) between 1s and age(b)"],
    ["v MATCHES 'a+'", "v matches 'a+'"],
    ["v not matches 'it''s'", "not v matches 'it''s'"],
    ["age < 26 and matches", "age < 26 and matches"],
    ["matches matches 'x'", "matches matches 'x'"],
  ])("%s reads as %s", (text, printed) => {
    expect(printExpectation(parseExpectation(text))).toBe(printed);
  });

  it.each([
    ["", 0, "a column or a value", "the end"],
    ["  ", 2, "a column or a value", "the end"],
    ["n >=", 4, "a column or a value", "the end"],
    ["n >= >", 5, "a column or a value", "`>`"],
    ["n > 1 m > 2", 6, "`and`, `or` or the end", "`m`"],
    ["1 < n < 10", 6, "`and`, `or` or the end", "`<`"],
    ["(n > 1", 6, "`and`, `or` or `)`", "the end"],
    ["n > 1)", 5, "`and`, `or` or the end", "`)`"],
    ["n = null", 4, "a value (NULL is asked for by `is null`)", "`null`"],
    ["n is 5", 5, "`null` or `not null`", "`5`"],
    ["n is not 5", 9, "`null`", "`5`"],
    ["n between 1 or 2", 12, "`and` and the upper end", "`or`"],
    ["n in 1", 5, "`(`", "`1`"],
    ["n in ()", 6, "a column or a value", "`)`"],
    ["n in (1", 7, "`,` or `)`", "the end"],
    ["n not 5", 6, "`between`, `in` or `matches`", "`5`"],
    ["5", 1, "a comparison, such as `>=`", "the end"],
    ["age(newest)", 11, "a comparison with a duration, such as `< 26h`", "the end"],
    ["age(newest) < 26", 14, "a duration such as `26h`, or age(column)", "`26`"],
    ["age(newest) < 26x", 14, "a number", "`26x`"],
    ["age(newest) < 26hours", 14, "a duration such as `26h` or `1d12h`", "`26hours`"],
    ["age(newest) > newest", 14, "a duration such as `26h`, or age(column)", "`newest`"],
    ["n < 26h", 4, "a value, for only age(column) compares with durations", "`26h`"],
    ["n between 1 and 2h", 16, "a value, for only age(column) compares with durations", "`2h`"],
    ["age(n) in (1h)", 7, "`between`: an age is never exactly another", "`in`"],
    ["age() < 1h", 4, "a column with a time", "`)`"],
    ["age('2026-01-01') < 1h", 4, "a column with a time", "`'2026-01-01'`"],
    ["age(n < 1h", 6, "`)`", "`<`"],
    ["v matches x", 10, "a pattern in single quotes", "`x`"],
    ["v matches 'a(b'", 14, "`)`", "the pattern's end"],
    ["v matches 'it''s ['", 18, "`]`", "the pattern's end"],
    [
      "v matches 'it''s **'",
      18,
      "no second quantifier (each already takes as much as the whole match needs)",
      "`*`",
    ],
    [
      "v matches '^8.'",
      11,
      "no anchor: the whole text has to match (add .* where other text may stand)",
      "`^`",
    ],
    [
      "v matches '(?=x)'",
      13,
      "`:` after `(?`: there is no look-around, and there are no flags and names",
      "`=`",
    ],
    ["v matches '\\1'", 12, "one of d D w W s S n r t, or a sign, after \\", "`1`"],
    ["true", 4, "a comparison, such as `>=`", "the end"],
    ["ok < true", 5, "a value that has an order", "`true`"],
    ["true < ok", 5, "`=` or `!=` after a boolean", "`<`"],
    ["n = 10x", 4, "a number", "`10x`"],
    ["n = 1.2.3", 4, "a number", "`1.2.3`"],
    ["n = 0x10", 4, "a number", "`0x10`"],
    ["n = 'open", 4, "a text that ends in '", "`'open`"],
    [`"open = 1`, 0, 'a column name that ends in "', '`"open`'],
    [`"" = 1`, 0, 'a column name that ends in "', '`""`'],
    ["n = 1;", 5, "a column, a value or an operator", "`;`"],
    ["n + 1 = 2", 2, "a column, a value or an operator", "`+`"],
    ["n =\u00a01", 3, "a column, a value or an operator", "U+00A0"],
    ["t.n = 1", 1, "a column, a value or an operator", "`.n`"],
    ["n = 1\ud800", 5, "Unicode text", "a lone surrogate"],
  ])("%j is malformed at %i", (text, position, expected, found) => {
    const error = mistake(text);
    expect([error.code, error.position, error.expected]).toEqual([
      "expectation_malformed",
      position,
      expected,
    ]);
    expect(error.message).toBe(`at character ${position + 1}: expected ${expected}, found ${found}`);
  });

  it.each([
    "1 = 1",
    "n = 1 and 1 = 1",
    "n = 1 or not ('a' < 'b')",
    "1 between 0 and 2",
    "1 in (1, 2)",
    "5 is null",
    "true = true",
    "1h < 2h",
    "'a' matches 'a'",
    "age(n) matches 'a'",
    "age(n) is null",
  ])("%s is refused: a part of it does not depend on the data", (text) => {
    expect(mistake(text).code).toBe("expectation_constant");
  });

  it("is bounded in length and depth", () => {
    const long = `n = '${"x".repeat(4090)}'`;
    expect(long).toHaveLength(4096);
    expect(parseExpectation(long).kind).toBe("comparison");
    expect(mistake(`${long} `).code).toBe("expectation_too_long");
    const nested = (depth: number): string => `${"(".repeat(depth)}n${")".repeat(depth)}`;
    expect(parseExpectation(nested(64)).kind).toBe("truth");
    expect(mistake(nested(65)).code).toBe("expectation_too_deep");
    expect(parseExpectation(`${"not ".repeat(64)}n`).kind).toBe("not");
    expect(mistake(`${"not ".repeat(65)}n`).code).toBe("expectation_too_deep");
    expect(parseExpectation(Array(600).fill("(n)").join("or")).kind).toBe("or");
  });
});

test("any text is an expression or a typed mistake within it", () => {
  const words = fc.constantFrom(
    ..."age matches 1h '(a|b)*' '[' and or not between in is null true false n m = == != <> < <= > >= ( ) , 1 -1 .5 1e 'a' ' \" \"q\" \ud83d é 10x ;".split(
      " ",
    ),
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string(),
    fc.array(words, { maxLength: 30 }).map((each) => each.join(" ")),
    fc.array(words, { maxLength: 30 }).map((each) => each.join("")),
  );
  fc.assert(
    fc.property(text, (each) => {
      try {
        const expression = parseExpectation(each);
        expect(parseExpectation(printExpectation(expression))).toEqual(expression);
      } catch (error) {
        expect(error).toBeInstanceOf(ExpectationError);
        expect(error).toHaveProperty("position", expect.any(Number));
        const { position } = error as ExpectationError;
        expect(position >= 0 && position <= each.length).toBe(true);
      }
    }),
    { numRuns: 20_000 },
  );
});

test("a printed expression parses to the same expression", () => {
  const columns: fc.Arbitrary<ColumnName> = fc.oneof(
    fc.constantFrom("n", "_x$1", "Größe", "nothing", "inn").map((name) => column(name)),
    anyText.filter((name) => name !== "").map((name) => column(name, true)),
  );
  const literals: fc.Arbitrary<Literal> = fc.oneof(
    anyText.map((value) => ({ kind: "text", value }) as const),
    fc.constantFrom("0", "-1", "9007199254740993", "0.10", ".5", "5.", "1e-7", "-2E+10").map(number),
  );
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    expressions(columns, literals),
    columns.map((each) => ({ kind: "truth", column: each }) as const),
    fc.record({
      kind: fc.constant("matches" as const),
      column: columns,
      pattern: fc.constantFrom("", "a", "it's|'", "[^'\\]]{2,3}", "(?:\\d+\\.)*"),
    }),
    fc.record({
      kind: fc.constant("between" as const),
      operand: columns.map((each) => ({ kind: "age" as const, column: each })),
      low: fc.constant({ kind: "duration" as const, seconds: 5_400, text: "1h30m" }),
      high: columns.map((each) => ({ kind: "age" as const, column: each })),
    }),
    fc.record({
      kind: fc.constant("comparison" as const),
      operator: fc.constantFrom("=" as const, "!=" as const),
      left: fc.boolean().map((value) => ({ kind: "boolean", value }) as const),
      right: columns,
    }),
  );
  fc.assert(
    fc.property(compounds(leaf), (expression) => {
      const text = printExpectation(expression);
      fc.pre(text.length <= 4096);
      expect(parseExpectation(text)).toEqual(expression);
    }),
    { numRuns: 2_000 },
  );
});

test("columnsOf names each column of an expectation", () => {
  const text = `A > 1 and (not b is null or age("C") < 1h) and 1 between d and 2 and e in (f, 1) and g matches 'x' and h`;
  expect([...columnsOf(parseExpectation(text))].toSorted()).toEqual("abcdefgh".split(""));
});
