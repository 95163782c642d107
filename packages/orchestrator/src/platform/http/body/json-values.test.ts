import fc from "fast-check";
import { expect, test } from "vitest";
import { hasMoreValues, problemOf } from "./json-values.ts";

test("the check of JSON finds nothing wrong with JSON that can be stored and written again as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value);
      if (problemOf(JSON.parse(text), text) !== null) return;
      expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/);
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    }),
  );
});

test.each([
  ['"a\\u0000"', "NUL"],
  ['["\\ud800"]', "surrogate"],
  ['{"a":{"\\udc00":1}}', "surrogate"],
  ['{"\\u0000":1}', "NUL"],
  ["[1e999]", "number"],
  ['{"a":-1e999}', "number"],
  ['{"a":1,"b":":","\\u0061":1}', "twice"],
  ['[{"a":{"b":1,"b":1}}]', "twice"],
])("refuses %s for its %s", (text, reason) => {
  expect(problemOf(JSON.parse(text), text)).toContain(reason);
});

test("the check of JSON takes colons in texts and names for what they are, and a name in two objects", () => {
  const text = '{"a:\\"":"::\\\\", "b" : [{"a":1}, {"a":{}}]}';
  expect(problemOf(JSON.parse(text), text)).toBeNull();
});

test("the check of JSON takes 64 levels and no more, without a stack of its own running over", () => {
  const check = (text: string): string | null => problemOf(JSON.parse(text), text);
  expect(check(`${"[".repeat(64)}1${"]".repeat(64)}`)).toBeNull();
  expect(check(`${"[".repeat(65)}1${"]".repeat(65)}`)).toContain("64");
  expect(check(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)).toContain("64");
});

test.each([
  ["1", 0],
  ["[]", 0],
  ["[1,2,3]", 3],
  ['{"a":[{},{"b":[0]}],"c":null}', 6],
])("%s holds %i values", (text, values) => {
  const value: unknown = JSON.parse(text);
  expect(hasMoreValues(value, values)).toBe(false);
  if (values > 0) expect(hasMoreValues(value, values - 1)).toBe(true);
});
