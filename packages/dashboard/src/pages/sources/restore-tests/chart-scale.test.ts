import { expect, test } from "vitest";
import { durationTicks, nearestIndex, placeMarks, timeTicks } from "./chart-scale.ts";

const HOUR = 3_600_000;

test.each([
  [0, [0, 1]],
  [4, [0, 1, 2, 3, 4]],
  [1234, [0, 500, 1000, 1500]],
  [61_000, [0, 15_000, 30_000, 45_000, 60_000, 75_000]],
  [7 * HOUR, [0, 2 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR]],
  [20 * 24 * HOUR, [0, 96 * HOUR, 192 * HOUR, 288 * HOUR, 384 * HOUR, 480 * HOUR]],
])("an axis for durations up to %d ms has round marks that reach beyond it", (max, ticks) => {
  expect(durationTicks(max)).toEqual(ticks);
});

test("marks of time lie within the axis, and there are no more than fit", () => {
  const from = new Date(2026, 10, 1, 13, 20).getTime();
  for (const hours of [0.2, 1, 5, 24, 100, 24 * 30, 24 * 400, 24 * 4000, 24 * 3e6])
    for (const most of [3, 8]) {
      const to = from + hours * HOUR;
      const { at } = timeTicks(from, to, most);
      expect(at.length).toBeLessThanOrEqual(most + 1);
      expect(at.every((time) => time >= from && time <= to)).toBe(true);
      if (hours > 24) expect(at.length).toBeGreaterThan(0);
    }
});

test("marks of several days are at midnight, even where the clocks change", () => {
  const from = new Date(2026, 2, 20, 13).getTime();
  const { at, areDays } = timeTicks(from, from + 20 * 24 * HOUR, 8);
  expect(areDays).toBe(true);
  expect(new Set(at.map((time) => new Date(time).getHours()))).toEqual(new Set([0]));
});

test("the nearest of several values is found, and the last of equal ones", () => {
  expect(nearestIndex([], 3)).toBe(-1);
  expect(nearestIndex([1, 5, 5, 9], 6)).toBe(2);
  expect(nearestIndex([1, 5], -7)).toBe(0);
});

test("no mark's text covers another's, on a phone where the last one stands before its mark", () => {
  expect(placeMarks([100, 200, 300], 360, 90)).toEqual([
    { index: 0, anchor: "middle" },
    { index: 1, anchor: "middle" },
    { index: 2, anchor: "middle" },
  ]);
  expect(placeMarks([170, 280], 300, 90)).toEqual([{ index: 0, anchor: "middle" }]);
  expect(placeMarks([170, 310], 330, 90)).toEqual([
    { index: 0, anchor: "middle" },
    { index: 1, anchor: "end" },
  ]);
  expect(placeMarks([], 300, 90)).toEqual([]);
});
