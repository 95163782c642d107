import { expect, test } from "vitest";
import { presetDays } from "./period-presets.ts";

const NOW = new Date("2027-02-03T12:00:00Z");

test.each([
  ["month", "2027-01-05", "2027-02-03"],
  ["quarter", "2027-01-01", "2027-02-03"],
  ["lastQuarter", "2026-10-01", "2026-12-31"],
  ["year", "2027-01-01", "2027-02-03"],
] as const)("%s is from %s up to %s", (preset, first, last) =>
  expect(presetDays(preset, NOW)).toEqual({ first, last }),
);
