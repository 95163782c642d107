import { expect, test } from "vitest";
import { cronTimes, NotUnderstood, parseCron } from "./cron-times.ts";

const between = (pattern: string, zone: string, from: string, to: string): string[] =>
  [...cronTimes(pattern, zone, Date.parse(from), Date.parse(to))].map((time) => new Date(time).toISOString());

test.each([
  ["30 2 * * *", "UTC", ["2026-11-20T02:30:00.000Z", "2026-11-21T02:30:00.000Z"]],
  ["30 2 * * *", "Europe/Berlin", ["2026-11-20T01:30:00.000Z", "2026-11-21T01:30:00.000Z"]],
  ["15 23 * * *", "America/New_York", ["2026-11-20T04:15:00.000Z", "2026-11-21T04:15:00.000Z"]],
  ["0 5 * * *", "Asia/Kathmandu", ["2026-11-20T23:15:00.000Z", "2026-11-21T23:15:00.000Z"]],
  ["0 0 21 * *", "UTC", ["2026-11-21T00:00:00.000Z"]],
  ["0 0 * nov fri", "UTC", ["2026-11-20T00:00:00.000Z"]],
  ["0 0 21 * 5", "UTC", ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"]],
  ["0 */12 * * 6-7", "UTC", ["2026-11-21T00:00:00.000Z", "2026-11-21T12:00:00.000Z"]],
  [
    "0,30 10-11/1 20 * *",
    "UTC",
    ["10:00", "10:30", "11:00", "11:30"].map((time) => `2026-11-20T${time}:00.000Z`),
  ],
])("%s in %s", (pattern, zone, times) => {
  expect(between(pattern, zone, "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z")).toEqual(times);
});

test("the hours around a clock change give no times", () => {
  const hours = between("0 * * * *", "Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T06:00:00Z");
  expect(hours.map((time) => time.slice(11, 13))).toEqual(["20", "21", "04", "05"]);
});

test.each([
  "* * * *",
  "60 * * * *",
  "0 0 */2 * 1",
  "0 5/3 * * *",
  "0 0 L * *",
  "@daily",
  "0 0 * * mon#2",
  "",
])("what other crons may read otherwise is not understood: %s", (pattern) => {
  expect(parseCron(pattern)).toBeNull();
  expect(() => between(pattern, "UTC", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z")).toThrow(
    NotUnderstood,
  );
});

test("a time zone that does not exist is refused", () => {
  expect(() =>
    between("* * * * *", "Europe/Nowhere", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z"),
  ).toThrow(NotUnderstood);
});
