import { expect, test } from "vitest";
import { dayBefore, dayOf, periodOfDays } from "./days.ts";

test("a period ends at midnight after its last day", () => {
  const period = periodOfDays("2026-10-01", "2026-12-31");
  expect(period).toEqual({ from: "2026-10-01T00:00:00.000Z", to: "2027-01-01T00:00:00.000Z" });
  expect(dayOf(period?.from ?? "")).toBe("2026-10-01");
  expect(dayBefore(period?.to ?? "")).toBe("2026-12-31");
  expect(periodOfDays("2026-10-01", "2026-10-01")?.to).toBe("2026-10-02T00:00:00.000Z");
});

test.each([
  ["2026-10-02", "2026-10-01"],
  ["", "2026-10-01"],
  ["2026-10-01", "x"],
])("%s to %s is not a period", (first, last) => expect(periodOfDays(first, last)).toBeNull());
