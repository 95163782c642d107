import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type DriverValue, formatRow } from "../values/format-row.ts";
import { parseRow } from "../values/row.ts";
import { column, compounds, expressions, number } from "../../../test/arbitrary-expressions.ts";
import { holdTo } from "./evaluate.ts";
import { type Expression, type Literal, printExpectation } from "./expression.ts";
import { parseExpectation } from "./parse.ts";

const NOW = new Date("2026-02-01T12:00:00Z");
const hold = (text: string, row: string): ReturnType<typeof holdTo> =>
  holdTo(parseExpectation(text), parseRow(row), NOW);

const NO_ZONE =
  "t (text) has no time zone: add one in the query, such as `placed_at at time zone 'UTC'` in PostgreSQL, " +
  "`strftime('%Y-%m-%dT%H:%M:%SZ', placed_at)` in SQLite, or `date_format(placed_at, '%Y-%m-%dT%H:%i:%sZ')` in MariaDB and MySQL";

describe("a row", () => {
  it.each([
    ["n >= 1000", `{"n":1000}`],
    ["n > 9007199254740992", `{"n":9007199254740993}`],
    ["total = 12345678901234567890.1234567890", `{"total":12345678901234567890.123456789}`],
    ["n = 1e3 and n != 1000.0000000000000000001", `{"n":1000.0}`],
    ["n between 1 and 3 and n not between 2 and 3", `{"n":1}`],
    ["n in (2, m)", `{"n":1,"m":1.0}`],
    ["n not in (2, 3)", `{"n":1}`],
    ["newest >= '2026-01-31T00:00:00'", `{"newest":"2026-02-01T09:00:00+00:00"}`],
    // U+FFFD comes before U+1F600, but not by UTF-16 code unit.
    ["a < b", `{"a":"\ufffd","b":"\u{1f600}"}`],
    ["s = ''", `{"s":""}`],
    ["s > 'Z'", `{"s":"a"}`],
    ["fresh", `{"fresh":true}`],
    ["not stale and fresh = true and stale != fresh", `{"fresh":true,"stale":false}`],
    ["x is null", `{"x":null}`],
    ["age(newest) < 26h", `{"newest":"2026-01-31T10:00:00.000001+00:00"}`],
    ["age(newest) > 1d1h59m59s", `{"newest":"2026-01-31 10:00:00Z"}`],
    ["age(newest) = 0s", `{"newest":"2026-02-01T17:30:00+05:30"}`],
    ["age(newest) = 0s", `{"newest":"2026-02-01T03:00-09"}`],
    ["age(newest) < 1s", `{"newest":"2026-02-01T12:04:59Z"}`],
    ["AGE(n) between 1h and 2w and not age(n) > age(m)", `{"n":1769940000,"m":1769940000}`],
    ["age > 5 and matches = 3", `{"age":6,"matches":3}`],
    ["v matches '8\\.[0-9]+(\\.\\d{1,3})?'", `{"v":"8.36.12"}`],
    ["s matches 'it''s (ok|fine)' and s not matches 'ok'", `{"s":"it's ok"}`],
    ["s matches '.\\w\\s[^a-z]'", `{"s":"\u{1f600}_ \u{1f600}"}`],
    ["x is not null and l is not null", `{"x":0,"l":[]}`],
    ["x is null or x > 5", `{"x":null}`],
    ["COUNT > 0", `{"count":1}`],
    ["Count > 0", `{"count":0,"Count":1}`],
    [`"count(*)" > 0`, `{"count(*)":1}`],
    ["a < b", `{"a":-1e400,"b":1e-400}`],
  ])("holds: %s of %s", (text, row) => {
    expect(hold(text, row)).toEqual({ holds: true });
  });

  it.each([
    ["n >= 1000", `{"n":999}`],
    ["n > 9007199254740992", `{"n":9007199254740992}`],
    ["n = 9007199254740993", `{"n":9007199254740992}`],
    ["n between 3 and 1", `{"n":2}`],
    ["s = 'a'", `{"s":"A"}`],
    ["s = 'a'", `{"s":"a "}`],
    ["fresh", `{"fresh":false}`],
    ["age(t) < 26h", `{"t":"2026-01-31T09:59:59.999999Z"}`],
    ["s matches 'a.c'", `{"s":"xabcx"}`],
    ["x is null", `{"x":"null"}`],
    ["n = 1 and x > 5", `{"n":2,"x":null}`],
  ])("does not hold: %s of %s", (text, row) => {
    expect(hold(text, row)).toEqual({ holds: false, reason: null });
  });

  it.each([
    ["x = 1", "NULL never satisfies a comparison: x"],
    ["not (x = 1)", "NULL never satisfies a comparison: x"],
    ["x != 1", "NULL never satisfies a comparison: x"],
    ["x = x", "NULL never satisfies a comparison: x"],
    ["x not in (1, 2)", "NULL never satisfies a comparison: x"],
    ["n not in (2, x)", "NULL never satisfies a comparison: x"],
    ["n not between 1 and x", "NULL never satisfies a comparison: x"],
    ["not x", "NULL never satisfies a comparison: x"],
    ["n = 1 and x > 5", "NULL never satisfies a comparison: x"],
    ["x > 5 or not x > 5", "NULL never satisfies a comparison: x"],
    ["s > 5", "s (text) can't be compared with a number"],
    ["'5' < n", "a text can't be compared with n (number)"],
    ["n = true", "n (number) can't be compared with a boolean"],
    ["n = 1 or s = 5", "s (text) can't be compared with a number"],
    ["n = 2 and s = 5", "s (text) can't be compared with a number"],
    ["not (s = 5)", "s (text) can't be compared with a number"],
    ["s not in ('a', 5)", "s (text) can't be compared with a number"],
    ["ok > fine", "ok (boolean) and fine (boolean) can't be ordered: use = or !="],
    ["n", "n (number) is not a boolean: compare it with something"],
    ["not s", "s (text) is not a boolean: compare it with something"],
    ["j = '{}'", "j (JSON) can't be compared with a text"],
    ["j = j", "j (JSON) can't be compared with j (JSON)"],
    ["N2 = 1 or n = 1", `the row has no column N2; it has n, s, x, ok, fine, j, A, a`],
    [`"N" = 1`, `the row has no column "N"; it has n, s, x, ok, fine, j, A, a`],
    ["age(x) < 1h", "NULL never satisfies a comparison: x"],
    ["not age(x) < 1h", "NULL never satisfies a comparison: x"],
    ["x matches '.*'", "NULL never satisfies a comparison: x"],
    ["x not matches '.*'", "NULL never satisfies a comparison: x"],
    ["n matches '1'", "n (number) is not text, and a pattern needs text"],
    ["n = 1 or ok matches 'true'", "ok (boolean) is not text, and a pattern needs text"],
    ["age(s) > 0s", "s (text) is not a time such as 2026-01-31T12:00:00Z"],
    ["age(ok) > 0s", "ok (boolean) is no time"],
    ["age(gone) > 0s", "the row has no column gone; it has n, s, x, ok, fine, j, A, a"],
    ["gone is null", `the row has no column gone; it has n, s, x, ok, fine, j, A, a`],
    ["gone is not null or n = 1", `the row has no column gone; it has n, s, x, ok, fine, j, A, a`],
  ])("is not held to %s, and why is said", (text, reason) => {
    const row = `{"n":1,"s":"5","x":null,"ok":true,"fine":true,"j":{},"A":1,"a":1}`;
    expect(hold(text, row)).toEqual({ holds: false, reason });
  });

  it.each([
    ["2026-02-01T12:05:01Z", "t (text) is in the future"],
    ["9999-12-31T00:00:00+00:00", "t (text) is in the future"],
    ["2026-02-01T11:00:00", NO_ZONE],
    ["2026-02-01", NO_ZONE],
    ["infinity", "t (text) is not a time such as 2026-01-31T12:00:00Z"],
  ])("has no age where its time is %s", (time, reason) => {
    for (const text of ["age(t) < 26h", "not age(t) > 26h", "age(t) < 26h or t is not null"])
      expect(hold(text, JSON.stringify({ t: time }))).toEqual({ holds: false, reason });
    // Milliseconds since 1970 are seconds of a distant future.
    expect(hold("age(t) < 26h", `{"t":1769940000000}`).holds).toBe(false);
  });

  it("is not matched against a pattern if its text is too long", () => {
    expect(hold("s matches '.*'", JSON.stringify({ s: "x".repeat(4097) }))).toEqual({
      holds: false,
      reason: "s has 4097 characters, more than the 4096 that a pattern can match",
    });
  });

  it("whose column names differ only in case needs quotes", () => {
    const row = `{"Ab":1,"aB":2}`;
    expect(hold("ab = 1", row)).toEqual({
      holds: false,
      reason: "ab could be Ab, aB: put the name in double quotes",
    });
    expect(hold(`"aB" = 2`, row)).toEqual({ holds: true });
  });

  it("without columns, or with very many, is described in bounds", () => {
    expect(hold("n = 1", "{}")).toEqual({ holds: false, reason: "the row has no column n; it has none" });
    const many = formatRow(Array.from({ length: 32 }, (_, i) => [`${"x".repeat(200)}${i}`, i] as const));
    const held = hold("n = 1", many);
    expect(held.holds || held.reason?.length).toBeLessThan(2_000);
    expect(held).toHaveProperty("reason", expect.stringMatching(/… and 12 more$|…", .* and 12 more$/));
  });
});

const numbers = fc.bigInt({ min: -3n, max: 3n });
const texts = fc.constantFrom("", "a", "A", "aa", "é", "\ufffd", "\u{1f600}", "'");
const textLiterals: fc.Arbitrary<Literal> = texts.map((value) => ({ kind: "text", value }) as const);
const numberLiterals = numbers.map((value) => number(value.toString()));
const either = compounds(
  fc.oneof(
    expressions(fc.constantFrom(column("a"), column("b")), numberLiterals),
    expressions(fc.constantFrom(column("s"), column("t", true)), textLiterals),
  ),
);

test("an expression has the result that SQLite gives, with NULL too", () => {
  using database = new DatabaseSync(":memory:");
  const row = fc.record({
    a: fc.option(numbers),
    b: fc.option(numbers),
    s: fc.option(texts),
    t: fc.option(texts),
  });
  const seen = { held: 0, failed: 0, unknown: 0 };
  fc.assert(
    fc.property(either, row, (expression, { a, b, s, t }) => {
      const text = printExpectation(expression);
      const answer = database
        .prepare(`select ${text} as truth from (select ? as a, ? as b, ? as s, ? as t)`)
        .get(a, b, s, t)?.["truth"];
      const held = holdTo(parseExpectation(text), parseRow(formatRow(Object.entries({ a, b, s, t }))), NOW);
      expect(held.holds).toBe(answer === 1);
      seen[answer === 1 ? "held" : answer === 0 ? "failed" : "unknown"]++;
      expect(!held.holds && held.reason !== null).toBe(answer === null);
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(seen.held, seen.failed, seen.unknown)).toBeGreaterThan(100);
});

const columns = { a: numbers, b: numbers, s: texts, t: texts };
const fullRow = fc.record(columns).map((row) => parseRow(formatRow(Object.entries<DriverValue>(row))));

test("de Morgan's laws and the excluded middle hold where nothing is NULL", () => {
  fc.assert(
    fc.property(either, either, fullRow, (p, q, row) => {
      const holds = (expression: Expression): boolean => holdTo(expression, row, NOW).holds;
      const not = (term: Expression): Expression => ({ kind: "not", term });
      const both: Expression = { kind: "and", terms: [p, q] };
      const any: Expression = { kind: "or", terms: [p, q] };
      expect(holds(not(both))).toBe(holds({ kind: "or", terms: [not(p), not(q)] }));
      expect(holds(not(any))).toBe(holds({ kind: "and", terms: [not(p), not(q)] }));
      expect(holds(not(p))).toBe(!holds(p));
    }),
  );
});

test("a comparison with NULL is never true, and neither is its negation", () => {
  const nothing = parseRow(`{"a":null,"b":null,"s":null,"t":null}`);
  fc.assert(
    fc.property(either, (expression) => {
      fc.pre(!printExpectation(expression).includes("is null"));
      expect(holdTo(expression, nothing, NOW).holds).toBe(false);
      expect(holdTo({ kind: "not", term: expression }, nothing, NOW).holds).toBe(false);
    }),
  );
});

test("a missing column fails the expression, wherever in it the column is", () => {
  const gone = expressions(fc.constant(column("gone")), numberLiterals);
  fc.assert(
    fc.property(either, gone, fullRow, fc.constantFrom("and" as const, "or" as const), (p, q, row, kind) => {
      for (const terms of [
        [p, q],
        [q, p],
      ]) {
        expect(holdTo({ kind, terms }, row, NOW).holds).toBe(false);
        expect(holdTo({ kind: "not", term: { kind, terms } }, row, NOW).holds).toBe(false);
      }
    }),
  );
});
