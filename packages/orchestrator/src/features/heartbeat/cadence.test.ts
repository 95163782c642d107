import { expect, test } from "vitest";
import { Cadence } from "./cadence.ts";

function cadence(silentAfterIntervals = 10): { after: (seconds: number, busy: number) => number } {
  let now = 0;
  let share = 0;
  const one = new Cadence({
    heartbeatInterval_s: 60,
    silentAfterIntervals,
    busy: () => share,
    now: () => now,
  });
  return {
    after(seconds, busy) {
      now += seconds * 1000;
      share = busy;
      return one.next();
    },
  };
}

test("agents come at the set interval while the thread has time", () => {
  const { after } = cadence();
  expect([after(0, 1), after(5, 1), after(5, 0.5), after(10, 0.89)]).toEqual([60, 60, 60, 60]);
});

test("agents are asked step by step to come half as often while the thread is full, and again as before", () => {
  const { after } = cadence();
  expect([1, 2, 3, 4, 5].map(() => after(10, 0.95))).toEqual([75, 93, 117, 120, 120]);
  expect([after(3, 0.1), after(10, 0.8)]).toEqual([120, 120]);
  expect([1, 2, 3, 4].map(() => after(10, 0.2))).toEqual([96, 76, 61, 60]);
});

test("agents are not asked to come so rarely that they would count as silent", () => {
  const { after } = cadence(2);
  expect([after(10, 1), after(10, 1)]).toEqual([60, 60]);
  const four = cadence(4);
  expect(Array.from({ length: 9 }, () => four.after(10, 1)).at(-1)).toBe(80);
});

test("the process's own thread is looked at", () => {
  const one = new Cadence({
    heartbeatInterval_s: 60,
    silentAfterIntervals: 10,
    now: () => performance.now() * 1000,
  });
  const until = performance.now() + 200;
  while (performance.now() < until);
  expect(one.next()).toBe(75);
});
