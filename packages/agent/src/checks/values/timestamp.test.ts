import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTimestamp } from "./timestamp.ts";

test.each([
  ["2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000Z"],
  ["2026-11-21 09:30:00.5+01", "2026-11-21T08:30:00.500Z"],
  ["2026-11-21t09:30-0330", "2026-11-21T13:00:00.000Z"],
  ["2026-11-21T09:30:00.123456789+05:30", "2026-11-21T04:00:00.123Z"],
  ["2026-11-21 09:30:00 +00", "2026-11-21T09:30:00.000Z"],
  ["0044-03-15T12:00:00+00:53:28", "0044-03-15T11:06:32.000Z"],
  ["2024-02-29T23:59:59-12:00", "2024-03-01T11:59:59.000Z"],
  ["275000-12-31T23:59:59+00:00", null],
])("%s", (text, iso) => {
  const moment = parseTimestamp(text);
  if (!("at_us" in moment)) throw new TypeError(`${text} is no moment`);
  if (iso !== null) expect(new Date(Number(moment.at_us / 1000n)).toISOString()).toBe(iso);
});

test.each([
  ["2026-11-21T09:30:00", "no_zone"],
  ["2026-11-21", "no_zone"],
  ["2025-02-29T00:00:00Z", "no_timestamp"],
  ["2026-13-01T00:00:00Z", "no_timestamp"],
  ["2026-11-21T24:00:00Z", "no_timestamp"],
  ["2026-11-21T09:60:00Z", "no_timestamp"],
  ["2026-11-21T09:30:00+25:00", "no_timestamp"],
  ["infinity", "no_timestamp"],
  ["2026-11-21T09:30:00Z ", "no_timestamp"],
  ["", "no_timestamp"],
  ["21.11.2026 09:30", "no_timestamp"],
])("%j is %s", (text, problem) => {
  expect(parseTimestamp(text)).toEqual({ problem });
});

test("the parser of times reads what JavaScript writes as JavaScript does, in any zone", () => {
  const offset = fc.integer({ min: -14 * 60, max: 14 * 60 });
  fc.assert(
    fc.property(
      fc.date({
        min: new Date("0001-01-02T00:00:00Z"),
        max: new Date("9999-12-30T00:00:00Z"),
        noInvalidDate: true,
      }),
      offset,
      (at, minutes) => {
        const two = (count: number): string => String(count).padStart(2, "0");
        const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const zone = `${minutes < 0 ? "-" : "+"}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
        expect(parseTimestamp(`${local}${zone}`)).toEqual({ at_us: BigInt(at.getTime()) * 1000n });
      },
    ),
  );
});
