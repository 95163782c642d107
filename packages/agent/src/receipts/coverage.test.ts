import { firstIdAt } from "@attestore/contract";
import { expect, test } from "vitest";
import { coverageOf, coverageText, type Tested } from "./coverage.ts";

const NOW = Date.parse("2026-11-23T00:00:00.000Z");
const DAY_MS = 24 * 3600 * 1000;
const daysAgo = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();
const madeBefore = (days: number): string => firstIdAt("backup", NOW - days * DAY_MS);
const kept = (count: number): string[] => Array.from({ length: count }, (_, i) => madeBefore(count - i));

const drawn = (days: number, backupId = "bkp_other"): Tested => ({
  backupId,
  at: daysAgo(days),
  isDrawn: true,
});

test("coverage counts tests of old backups, and no others", () => {
  const tests = [
    { backupId: madeBefore(40), at: daysAgo(3), isDrawn: false },
    { backupId: madeBefore(5), at: daysAgo(2), isDrawn: false },
  ];
  const found = coverageOf({ at: daysAgo(0), kept: kept(60), tests, now: NOW });
  expect(found).toMatchObject({
    kept: 60,
    older_than_30_days: { kept: 31, tested_within_90_days: 1 },
    draws: null,
  });
  expect(coverageText(found)).toBe("1 of 31 backups older than 30 days tested within 90 days");
});

test("how likely draws reach each backup follows from their rate and from how many are kept", () => {
  const daily = Array.from({ length: 90 }, (_, i) => drawn(i + 0.5));
  const { draws } = coverageOf({ at: daysAgo(0), kept: kept(60), tests: daily, now: NOW });
  // 1 - (59/60)^91; with Boole's inequality there is nothing left for all 31.
  expect(draws).toEqual({
    in_90_days: 91,
    each_probability: 0.78,
    every_probability: 0,
    needed_for_each_0_95: 179,
  });
  const few = coverageOf({ at: daysAgo(0), kept: [madeBefore(40), ...kept(6)], tests: daily, now: NOW });
  expect(few.draws).toMatchObject({ each_probability: 0.99, every_probability: 0.99 });
  expect(coverageText(few)).toContain("each of 7 within 90 days with probability 0.99");
});

test("the rate of the first days counts for 90, and one draw is no rate", () => {
  const of = (tests: Tested[], ids = kept(10)) =>
    coverageOf({ at: daysAgo(0), kept: ids, tests, now: NOW }).draws;
  expect(of([drawn(9), drawn(5), drawn(1)])?.in_90_days).toBe(30);
  expect(of([drawn(9)])).toBeNull();
  expect(of([drawn(9), drawn(1)], [])).toBeNull();
  expect(of([drawn(9), drawn(1)], kept(1))).toMatchObject({ each_probability: 1, needed_for_each_0_95: 1 });
});

test("draws reach backups as often as the formula says", () => {
  const [n, count, runs] = [20, 40, 4000];
  let [state, reached] = [1, 0];
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  for (let run = 0; run < runs; run++)
    if (Array.from({ length: count }, () => below(n)).includes(7)) reached += 1;
  const tests = Array.from({ length: count }, (_, i) => drawn(90 - i));
  const { draws } = coverageOf({ at: daysAgo(0), kept: kept(n), tests, now: NOW });
  expect(draws?.in_90_days).toBe(count);
  expect(Math.abs(reached / runs - (draws?.each_probability ?? 0))).toBeLessThan(0.03);
});
