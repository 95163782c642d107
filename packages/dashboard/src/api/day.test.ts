import { describe, expect, test } from "vitest";
import { dayIn, periodOf } from "./day.ts";

describe("the days of a filter", () => {
  test.each([
    ["2026-11-21", "2026-11-21"],
    ["2026-13-01", undefined],
    ["2026-02-31", undefined],
    ["21.11.2026", undefined],
    ["", undefined],
    [7, undefined],
  ])("are read from %s", (value, expected) => {
    expect(dayIn(value)).toBe(expected);
  });

  test("make a period from midnight to midnight in the reader's zone, across clock changes too", () => {
    const local = (text: string): string => new Date(text).toISOString();
    expect(periodOf({ from: "2026-10-25", to: "2026-10-25" })).toEqual({
      from: local("2026-10-25T00:00:00"),
      to: local("2026-10-26T00:00:00"),
    });
    expect(periodOf({ to: "2026-12-31" })).toEqual({ to: local("2027-01-01T00:00:00") });
    expect(periodOf({})).toEqual({});
  });
});
