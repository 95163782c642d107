import fc from "fast-check";
import { expect, test } from "vitest";
import { slugOf } from "./create-org.ts";

test.each([
  ["My Team", "my-team"],
  ["Café Ünlü GmbH", "cafe-unlu-gmbh"],
  ["  --a--  ", "a"],
  ["ﬁnance № 1", "finance-no-1"],
  ["株式会社", ""],
  ["A".repeat(200), "a".repeat(63)],
  [`${"a".repeat(62)} b`, "a".repeat(62)],
])("%j becomes %j", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test("a slug has only letters, digits and single hyphens between them", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      expect(slugOf(name)).toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/);
    }),
  );
});
