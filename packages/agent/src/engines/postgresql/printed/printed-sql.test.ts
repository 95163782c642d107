import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asReadBack } from "./printed-sql.ts";

/** The first text is from PostgreSQL 15 at a source, the second from the restored copy. */
describe("each way in which a copy prints differently has one rule that makes both alike", () => {
  test.each([
    [
      "the cast of an array is one of its elements",
      "((v)::text = ANY ((ARRAY['x'::character varying, 'y (z)'::character varying])::text[]))",
      "((v)::text = ANY (ARRAY[('x'::character varying)::text, ('y (z)'::character varying)::text]))",
    ],
    [
      "so it is in a list of columns",
      "SELECT (ARRAY['a'::character varying(3), 'b'::character varying(3)])::text[] AS c0",
      "SELECT ARRAY[('a'::character varying(3))::text, ('b'::character varying(3))::text] AS c0",
    ],
    [
      "and of each array within another",
      "((ARRAY[ARRAY['a'::character varying], ARRAY[v]])::text[] = t)",
      "(ARRAY[ARRAY[('a'::character varying)::text], ARRAY[(v)::text]] = t)",
    ],
    [
      "the first operands of AND are operands like the others",
      "((((n >= 3) AND (n <= 10)) AND (v ~~ 'a%'::text)) OR b)",
      "(((n >= 3) AND (n <= 10) AND (v ~~ 'a%'::text)) OR b)",
    ],
    [
      "and those of OR",
      "(((1 = 1) OR (1 = t.id)) OR ((1)::numeric = t.nn))",
      "((1 = 1) OR (1 = t.id) OR ((1)::numeric = t.nn))",
    ],
    [
      "a column has the name of its type",
      "SELECT 'PUBLIC'::name, 1::bigint, '1'::character varying(3) FROM t",
      `SELECT 'PUBLIC'::name AS name, 1::bigint AS int8, '1'::character varying(3) AS "varchar" FROM t`,
    ],
    [
      "a type of two words or another schema too",
      `SELECT 'a'::public."My mood", '{}'::s.t[], 'now'::timestamp(3) with time zone`,
      `SELECT 'a'::public."My mood" AS "My mood", '{}'::s.t[] AS t, 'now'::timestamp(3) with time zone AS timestamptz`,
    ],
    ["a join without a condition", "(a LEFT JOIN tt6 ON TRUE)", "(a LEFT JOIN tt6 ON (true))"],
    ["lines do not matter", "SELECT a,\n    b\n   FROM t", "SELECT a, b FROM t"],
  ])("%s", (_, source, copy) => {
    expect(asReadBack(source)).toBe(asReadBack(copy));
  });
});

test.each([
  ["((a OR b) AND c)", "(a OR (b AND c))"],
  ["(((a OR b)) AND c)", "(a OR b AND c)"],
  ["(a AND (b OR c))", "((a AND b) OR c)"],
  ["(a OR (b OR c))", "(a OR b OR c)"],
  ["(v = 'a b'::text)", "(v = 'ab'::text)"],
  ["(v = 'a  b'::text)", "(v = 'a b'::text)"],
  ["(v = '(a)'::text)", "(v = 'a'::text)"],
  ["(v = 'a::text'::text)", "(v = 'a'::text)"],
  ["(v = 'it''s'::text)", "(v = 'it'' s'::text)"],
  [String.raw`(v = E'a\'::text b')`, String.raw`(v = E'a\' b')`],
  ["(v = 'a'::text)", "(v = 'a'::bpchar)"],
  ["((v)::text = 'a'::text)", "(v = 'a'::text)"],
  ["(n > '-1'::integer)", "(n > 1)"],
  ['("a b" > 1)', '("ab" > 1)'],
  ["(a < - b)", "(a <- b)"],
  ["(a AND b)", "(a and b)"],
  ["AS $f$ a (b) $f$", "AS $f$ a b $f$"],
  ["(v = ANY ((ARRAY['a'::text])::text[]))", "(v = ANY (ARRAY['a'::text]))"],
  [
    "(ARRAY['a'::character varying, 'b'::character varying])::text[]",
    "ARRAY['a'::character varying, ('b'::character varying)::text]",
  ],
  ["SELECT 'a'::name AS name FROM t", "SELECT 'a'::name AS b FROM t"],
  ["SELECT 'a'::name AS text FROM t", "SELECT 'a'::name FROM t"],
  ["ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND 1 PRECEDING"],
  ["(a b)", "(a\u00a0b)"],
])("what means something else is not alike: %s and %s", (one, other) => {
  expect(asReadBack(one)).not.toBe(asReadBack(other));
});

test("text that is not SQL stays as it is", () => {
  for (const text of ["(a", "a)", "(a]", "'a", '"a', "$a$ b", "a \\ b"]) expect(asReadBack(text)).toBe(text);
});

test("texts with different quotes are never alike", () => {
  const quoted = fc.string({
    unit: fc.constantFrom("'", '"', " ", "(", ")", ":", "\\", "$", "a", "AND", ","),
  });
  fc.assert(
    fc.property(quoted, quoted, (one, other) => {
      const [a, b] = [one, other].map((text) => `(v = '${text.replaceAll("'", "''")}'::text)`);
      expect(asReadBack(a!) === asReadBack(b!)).toBe(one === other);
    }),
  );
});

test("any text has a form, and the form of a form is itself", () => {
  const words = [
    "(",
    ")",
    "[",
    "]",
    "'",
    "AND",
    "OR",
    "ARRAY",
    "::",
    "text",
    ",",
    "AS",
    "ON",
    "TRUE",
    " ",
    "$",
  ];
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...words) }), (text) => {
      const form = asReadBack(text);
      expect(asReadBack(form)).toBe(form);
    }),
  );
});

test("a very deep or long expression has a form", () => {
  const deep = `${"(".repeat(100_000)}a${")".repeat(100_000)}`;
  expect(asReadBack(deep)).toHaveLength(400_001);
  const long = `'${"a''".repeat(1_000_000)}'`;
  expect(asReadBack(long)).toBe(long);
});
