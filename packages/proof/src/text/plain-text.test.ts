import fc from "fast-check";
import { expect, test } from "vitest";
import { plainExcerpt, plainLine, plainMessage, plainText } from "./plain-text.ts";

test.each([
  ["\u001b[2J\u001b[H", "\\u001b[2J\\u001b[H"],
  ["a\nPASSED", "a\\u000aPASSED"],
  ["a\r\u0085b\u2028c", "a\\u000d\\u0085b\\u2028c"],
  ["gpj.\u202eexe", "gpj.\\u202eexe"],
  ["\u2066\u2069\u200b\u00ad\ufeff", "\\u2066\\u2069\\u200b\\u00ad\\ufeff"],
  ["\u{e0041}", "\\udb40\\udc41"],
  ["\ud800", "\\ud800"],
  // Letters and marks that nobody sees: two names with and without them look the same.
  ["users\u3164", "users\\u3164"],
  ["\u034f\u115f\u1160\u17b4\uffa0", "\\u034f\\u115f\\u1160\\u17b4\\uffa0"],
  ["✔\ufe0f", "✔\ufe0f"],
  ["\u009b31m", "\\u009b31m"],
  ["Größe 😀 日本", "Größe 😀 日本"],
])("%j", (text, plain) => {
  expect(plainLine(text)).toBe(plain);
});

test("a line never contains a terminal control sequence", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(plainLine(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(plainMessage(text)).not.toMatch(/\n\S/);
    }),
  );
});

test("an excerpt is no longer than its limit, and says when something was cut", () => {
  expect(plainExcerpt("a\nb", 8)).toBe("a\\u000ab");
  expect(plainExcerpt("a\nb", 7)).toBe("a\\u000a…");
  expect(plainExcerpt("a😀b", 2)).toBe("a…");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, limit) => {
      const excerpt = plainExcerpt(text, limit);
      expect(excerpt).toBe(plainLine(excerpt));
      expect(excerpt.length).toBeLessThanOrEqual(limit + 1);
    }),
  );
});

test("JSON stays the same JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, name) => {
      const json = JSON.stringify({ value, name }, null, 2);
      expect(JSON.parse(plainText(json))).toEqual(JSON.parse(json));
    }),
  );
});
