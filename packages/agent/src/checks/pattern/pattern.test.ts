import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PatternError } from "./pattern-error.ts";
import { MAX_MATCHED, Pattern } from "./pattern.ts";
import { processorTime_ms } from "../../../test/processor-time.ts";

test.each([
  ["", "", true],
  ["", "a", false],
  ["a|b|", "", true],
  ["a|b|", "ab", false],
  ["ok", "not ok", false],
  ["(ab)*c+", "ababcc", true],
  ["(ab)*c+", "abacc", false],
  ["a{2,3}", "a", false],
  ["a{2,3}", "aaa", true],
  ["a{2,3}", "aaaa", false],
  ["a{0}", "", true],
  ["a{2,}", "aaaaa", true],
  [".", "\u{1f600}", true],
  [".", "\n", false],
  ["[^a]", "\n", true],
  ["[a\\-z.\\]]+", "a-.z]", true],
  ["[a-c-]+", "b-", true],
  ["[\\d_]+", "1_2", true],
  ["\\D\\W\\S", "x-x", true],
  ["\\d", "\u0663", false],
  ["\\{\\}\\.\\\\\\$", "{}.\\$", true],
  ["(()*)*a", "a", true],
  ["\u{1f600}-\u{1f601}", "\u{1f600}-\u{1f601}", true],
])("%j of %j: %j", (source, text, holds) => {
  expect(Pattern.parse(source).matches(text)).toBe(holds);
});

test.each([
  ["(", 1],
  [")", 0],
  ["a**", 2],
  ["a*?", 2],
  ["*a", 0],
  ["{2}", 0],
  ["a{", 2],
  ["a{2", 3],
  ["a{3,2}", 2],
  ["a{1001}", 2],
  ["[]", 2],
  ["[b-a]", 3],
  ["[a-\\d]", 3],
  ["[[:alpha:]]", 1],
  ["\\", 1],
  ["\\b", 1],
  ["a^", 1],
  ["(?<n>a)", 2],
  ["\u{1f600}(", 3],
  ["(a{100}){100}", 0],
  [`${"(".repeat(33)}${")".repeat(33)}`, 32],
])("%j is malformed at %i", (source, position) => {
  expect(() => Pattern.parse(source)).toThrow(PatternError);
  expect(() => Pattern.parse(source)).toThrow(expect.objectContaining({ position }));
});

/**
 * Patterns as JavaScript's own engine reads them too, over an alphabet in which both mean the same.
 */
const patterns = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(
      "a",
      "b",
      "_",
      "0",
      " ",
      "\\n",
      ".",
      "\\d",
      "\\w",
      "\\S",
      "[ab]",
      "[^a-z0]",
      "[\\s_]",
      "\\.",
    ),
    fc
      .tuple(tie("any"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{0,}"))
      .map(([of, times]) => `(?:${of})${times}`),
    fc.array(tie("any"), { maxLength: 4 }).map((parts) => parts.join("")),
    fc.array(tie("any"), { minLength: 2, maxLength: 3 }).map((parts) => `(${parts.join("|")})`),
  ),
})).any;
const texts = fc.string({
  unit: fc.constantFrom("a", "b", "_", "0", " ", "\n", ".", "\u{1f600}"),
  maxLength: 12,
});

test("a pattern matches what JavaScript's own engine matches", () => {
  let held = 0;
  fc.assert(
    fc.property(patterns, texts, (source, text) => {
      const holds = new RegExp(`^(?:${source})$`, "u").test(text);
      expect(Pattern.parse(source).matches(text)).toBe(holds);
      if (holds) held++;
    }),
    { numRuns: 10_000 },
  );
  expect(held).toBeGreaterThan(100);
});

test("any text is a pattern or a typed mistake within it", () => {
  const signs = fc.constantFrom(...Array.from("(){}[]|*+?.^$\\-:,0129ab\u{1f600}"));
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: signs, maxLength: 20 })),
      texts,
      (source, text) => {
        try {
          Pattern.parse(source).matches(text);
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
          const { position } = error as PatternError;
          expect(position >= 0 && position <= source.length).toBe(true);
        }
      },
    ),
    { numRuns: 10_000 },
  );
});

describe("takes no longer than its length times the text's", () => {
  test.each([
    ["(a*)*b", "a".repeat(MAX_MATCHED)],
    ["(a|a)*b", "a".repeat(MAX_MATCHED)],
    ["(a|aa)+b", "a".repeat(MAX_MATCHED)],
    ["(.*)(.*)(.*)(.*)(.*)[^a]", "a".repeat(MAX_MATCHED)],
    ["(a?){300}a{300}", "a".repeat(MAX_MATCHED)],
    ["(a*){300}b", "a".repeat(MAX_MATCHED)],
  ])("%s", (source, text) => {
    const used_ms = processorTime_ms(() => expect(Pattern.parse(source).matches(text)).toBe(false));
    expect(used_ms).toBeLessThan(5_000);
  });

  test("nothing repeated a thousand thousand times", () => {
    const source = `${"(".repeat(20)}${"){999}".repeat(20)}`;
    expect(() => Pattern.parse(source)).toThrow(PatternError);
  });
});
