import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { isCron, nextTime } from "./cron.ts";
import { isTimeZone, wallClock } from "./time-zone.ts";

/** The next `count` times, to the minute. */
function times(pattern: string, zone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let at: Date | null = new Date(from);
  while (found.length < count) {
    at = nextTime(pattern, zone, at);
    if (at === null) break;
    found.push(at.toISOString().slice(0, 16));
  }
  return found;
}

describe("a time that a change of the clocks leaves out runs once, at the moment of the change", () => {
  test.each([
    ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    ["0 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:00"]],
    ["15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:15"]],
    ["30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", ["2026-03-08T07:00", "2026-03-09T06:30"]],
    ["10 2 29 3 *", "Europe/Berlin", "2026-01-01T00:00:00Z", ["2026-03-29T01:00", "2027-03-29T00:10"]],
    // with the one that does exist at that moment
    ["30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", ["2026-03-29T01:00", "2026-03-29T01:30"]],
    ["0 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:00"]],
    // a whole day that Samoa left out
    ["0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", ["2011-12-30T10:00", "2011-12-30T22:00"]],
  ])("%s in %s", (pattern, zone, from, expected) => {
    expect(times(pattern, zone, from, expected.length)).toEqual(expected);
  });
});

describe("a time that comes twice runs once, the first time", () => {
  test.each([
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
    [
      "15,45 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:15", "2026-10-25T00:45", "2026-10-26T01:15"],
    ],
    [
      "0 2-4 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:00", "2026-10-25T02:00", "2026-10-25T03:00"],
    ],
    ["30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", ["2026-11-01T05:30", "2026-11-02T06:30"]],
    // asked for in the hour that is repeated
    ["30 1 * * *", "America/New_York", "2026-11-01T06:10:00Z", ["2026-11-02T06:30"]],
    ["45 1 * * *", "America/New_York", "2026-11-01T05:44:00Z", ["2026-11-01T05:45", "2026-11-02T06:45"]],
  ])("%s in %s", (pattern, zone, from, expected) => {
    expect(times(pattern, zone, from, expected.length)).toEqual(expected);
  });

  test("but every hour is every hour", () => {
    expect(times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 4)).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T01:00",
      "2026-10-25T02:00",
      "2026-10-25T03:00",
    ]);
    expect(times("*/30 * * * *", "America/New_York", "2026-11-01T05:15:00Z", 4)).toEqual([
      "2026-11-01T05:30",
      "2026-11-01T06:00",
      "2026-11-01T06:30",
      "2026-11-01T07:00",
    ]);
  });
});

const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kolkata",
  "UTC",
  "Africa/Casablanca",
];
const moment = fc
  .date({ min: new Date("2020-01-01T00:00:00Z"), max: new Date("2035-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => new Date(Math.floor(date.getTime() / 60_000) * 60_000));

test("a daily schedule runs exactly once on each day, whatever the clocks do", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      moment,
      (zone, hour, minute, start) => {
        let at = nextTime(`${minute} ${hour} * * *`, zone, start);
        for (let n = 0; n < 40; n += 1) {
          if (at === null) throw new Error("a daily schedule ended");
          const next = nextTime(`${minute} ${hour} * * *`, zone, at);
          const days = ((next?.getTime() ?? 0) - at.getTime()) / 86_400_000;
          expect(days).toBeGreaterThan(0.95);
          expect(days).toBeLessThan(1.05);
          at = next;
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("from within a period the next time is the same as from its beginning", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      fc.constantFrom("30 2 * * *", "15,45 2 * * *", "0 */3 * * *", "*/7 * * * *", "0 1 1 * *", "30 1 * * 0"),
      moment,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (zone, pattern, start, part) => {
        const next = nextTime(pattern, zone, start);
        if (next === null) throw new Error("it ended");
        expect(next > start).toBe(true);
        const within = new Date(start.getTime() + Math.floor((next.getTime() - start.getTime()) * part));
        expect(nextTime(pattern, zone, within)).toEqual(next);
      },
    ),
    { numRuns: 200 },
  );
});

test("only five standard fields that name some time are a schedule", () => {
  for (const pattern of ["* * * * *", "0 0 * * 7", "*/5 0-6,22 1 JAN-mar Mon-FRI", "0 0 29 2 *"])
    expect(isCron(pattern), pattern).toBe(true);
  for (const pattern of [
    "",
    "* * * *",
    "* * * * * *",
    "@daily",
    "60 * * * *",
    "0 0 31 2 *",
    "0 0 L * *",
    "0 0 * * 1#2",
    "0 0 1W * *",
    "*/0 * * * *",
    "5-1 * * * *",
    "1,,2 * * * *",
    "? * * * *",
    "* * * * * ",
    "* *  * * *",
    "0 0 * foo *",
  ])
    expect(isCron(pattern), pattern).toBe(false);
});

test("any text is accepted or refused as a schedule, and an accepted one has a next time", () => {
  const field = fc.stringMatching(/^[0-9A-Za-z*,/-]{1,8}$/);
  fc.assert(
    fc.property(fc.array(field, { minLength: 5, maxLength: 5 }), (fields) => {
      const pattern = fields.join(" ");
      if (isCron(pattern)) expect(nextTime(pattern, "UTC", new Date("2026-01-01T00:00:00Z"))).not.toBeNull();
    }),
    { numRuns: 300 },
  );
});

test("time zones are those of the IANA database", () => {
  for (const zone of ["UTC", "Asia/Tokyo", "Etc/GMT+5"]) expect(isTimeZone(zone), zone).toBe(true);
  // Two of them have the capitals of one that there is.
  for (const zone of [
    "Mars/Olympus",
    "",
    "Asia/Tokyo ",
    "x".repeat(64),
    "+01:00",
    "-0330",
    "Aſia/Tokyo",
    "Asıa/Tokyo",
  ])
    expect(isTimeZone(zone), zone).toBe(false);
  expect(wallClock("Asia/Kolkata", new Date("2026-01-01T00:00:00.123Z"))).toEqual(
    new Date("2026-01-01T05:30:00.123Z"),
  );
});

test("a time zone takes memory once, in whatever spelling", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat");
  const at = new Date("2026-01-01T00:00:00.000Z");
  for (let n = 0; n < 64; n += 1) {
    let bit = 0;
    const zone = "Pacific/Kiritimati".replaceAll(/[a-z]/g, (letter) =>
      (n >> bit++) & 1 ? letter.toUpperCase() : letter,
    );
    expect(isTimeZone(zone), zone).toBe(true);
    expect(wallClock(zone, at)).toEqual(new Date("2026-01-01T14:00:00.000Z"));
  }
  expect(made).toHaveBeenCalledTimes(1);
  made.mockRestore();
});
