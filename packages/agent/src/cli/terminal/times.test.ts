import { expect, it } from "vitest";
import { formatAge, formatDuration } from "./times.ts";

it("times are written for people to read", () => {
  expect([850, 12_000, 180_000, 18_000_000, 800_000_000].map(formatDuration)).toEqual([
    "850 ms",
    "12 s",
    "3 min",
    "5 h",
    "9 days",
  ]);
  const now = Date.parse("2026-01-02T00:00:00.000Z");
  expect(formatAge("2026-01-01T21:00:00.000Z", now)).toBe("3 h ago");
  expect(formatAge("2026-01-02T00:00:09.000Z", now)).toBe("just now");
});
