import { expect, test } from "vitest";
import { formatAge, formatDuration, formatMilliseconds, formatMoment, formatTime, plural } from "./format.ts";

test.each([
  [0, "0 s"],
  [59.4, "59 s"],
  [60, "1 min"],
  [95, "1 min 35 s"],
  [12 * 60 + 5, "12 min"],
  [3600, "1 h"],
  [3 * 3600 + 20 * 60, "3 h 20 min"],
  [23 * 3600 + 59 * 60, "23 h"],
  [86_400, "1 day"],
  [9.7 * 86_400, "9 days"],
])('%d seconds read "%s"', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

test("short times keep one decimal", () => {
  expect([420, 2400, 61_000].map(formatMilliseconds)).toEqual(["420 ms", "2.4 s", "1 min 1 s"]);
});

test("an age may be in the past or the future", () => {
  const now = new Date("2026-11-21T08:00:00Z");
  const at = (text: string) => formatAge(new Date(text), now);
  expect(at("2026-11-18T08:00:00Z")).toBe("3 days ago");
  expect(at("2026-11-21T08:20:00Z")).toBe("in 20 min");
  expect(at("2026-11-21T07:59:58Z")).toBe("just now");
});

test("an age has one unit, and is never rounded up", () => {
  const now = new Date("2026-11-21T08:00:00Z");
  const age = (seconds: number) => formatAge(new Date(now.getTime() - seconds * 1000), now);
  expect([59.9, 60, 119, 3599, 3600, 7199, 86_399, 86_400, 2 * 86_400 - 1].map(age)).toEqual([
    "59 s ago",
    "1 min ago",
    "1 min ago",
    "59 min ago",
    "1 h ago",
    "1 h ago",
    "23 h ago",
    "1 day ago",
    "1 day ago",
  ]);
});

test("a moment names its time zone, even across clock changes", () => {
  expect(formatMoment(new Date("2026-07-01T22:30:00Z"), "Europe/Berlin")).toBe(
    "2 Jul 2026, 00:30 (Europe/Berlin)",
  );
  expect(formatTime(new Date("2026-07-01T22:30:00Z"), "Europe/Berlin")).toBe("2 Jul 2026, 00:30");
  expect(formatMoment(new Date("2026-11-21T22:30:00Z"), "UTC")).toBe("21 Nov 2026, 22:30 (UTC)");
});

test("a count of one is singular", () => {
  expect([plural(0, "backup"), plural(1, "backup"), plural(1200, "entry", "entries")]).toEqual([
    "0 backups",
    "1 backup",
    "1,200 entries",
  ]);
});
