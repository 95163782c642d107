import { expect, it } from "vitest";
import { isTimestamp } from "./shapes.ts";

it.each(["0001-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "9999-12-31T00:00:00.000Z"])(
  "%s is a moment",
  (text) => {
    expect(isTimestamp(text)).toBe(true);
  },
);

it.each([
  "0000-01-01T00:00:00.000Z",
  "2026-02-29T00:00:00.000Z",
  "2026-04-31T00:00:00.000Z",
  "2026-01-31T24:00:00.000Z",
  "2026-01-31T23:59:60.000Z",
  "2026-01-31T12:00:00Z",
  "2026-01-31T12:00:00.000+00:00",
  "2026-01-31t12:00:00.000z",
  "2026-01-31T12:00:00.000Z\n",
  1769860800000,
])("%j is none", (value) => {
  expect(isTimestamp(value)).toBe(false);
});
