import { expect, test } from "vitest";
import { readCount, retentionOf, rulesOf, ruleWords } from "./keep-rules.ts";

test("a rule that keeps nothing is left out, and without rules everything is kept", () => {
  const rules = rulesOf({ keep_last: 7, keep_daily: 0 });
  expect(rules).toEqual({
    keep_last: 7,
    keep_days: 0,
    keep_daily: 0,
    keep_weekly: 0,
    keep_monthly: 0,
    keep_yearly: 0,
  });
  expect(retentionOf(rules)).toEqual({ keep_last: 7 });
  expect(retentionOf(rulesOf(null))).toBeNull();
});

test.each([
  ["", 0],
  [" 7 ", 7],
  ["100000", 100_000],
  ["100001", null],
  ["-1", null],
  ["1.5", null],
  ["seven", null],
])("a rule typed as %j is read as %j", (typed, count) => expect(readCount(typed)).toBe(count));

test("retention rules are put into words", () => {
  expect(ruleWords({ keep_last: 1, keep_weekly: 8 })).toEqual([
    "the newest 1 backup",
    "one a week for 8 weeks",
  ]);
  expect(ruleWords(null)).toEqual([]);
});
