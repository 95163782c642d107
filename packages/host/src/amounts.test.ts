import { expect, it } from "vitest";
import { formatAge, formatBytes, formatDuration } from "./amounts.ts";

it("amounts are written for people to read", () => {
  expect([0, 999, 1_000, 12_345, 999_999, 123_456_789, 5e12].map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "12.3 kB",
    "1.0 MB",
    "123 MB",
    "5.0 TB",
  ]);
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
