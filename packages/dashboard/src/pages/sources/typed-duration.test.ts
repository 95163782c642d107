import fc from "fast-check";
import { expect, test } from "vitest";
import { exactDuration, readDuration, typedDuration } from "./typed-duration.ts";

test.each([
  [86_400, { amount: "1", unit: "86400" }],
  [36 * 3600, { amount: "36", unit: "3600" }],
  [90 * 60, { amount: "90", unit: "60" }],
  [undefined, { amount: "", unit: "3600" }],
])("a duration of %s s opens as %j", (seconds, shown) => expect(typedDuration(seconds)).toEqual(shown));

test.each([
  [26 * 3600, "26 hours"],
  [86_400, "1 day"],
  [120, "2 minutes"],
  [90, "90 seconds"],
])("a duration of %d s is written as %s", (seconds, words) => expect(exactDuration(seconds)).toBe(words));

test("opening and saving a duration does not change it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 * 365 * 86_400 }), (seconds) => {
      expect(readDuration(typedDuration(seconds))).toBe(seconds);
    }),
  );
});

test.each(["0", "-1", "soon", "1e3", "9999999"])("%s days is not a valid duration", (amount) => {
  expect(readDuration({ amount, unit: "86400" })).toBeNull();
});
