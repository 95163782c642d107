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

test("agents are asked step by step to come less often while the thread is full, and then as before", () => {
  const { after } = cadence();
  expect([1, 2, 3].map(() => after(10, 0.95))).toEqual([75, 80, 80]);
  expect([after(3, 0.1), after(10, 0.8)]).toEqual([80, 80]);
  expect([1, 2, 3].map(() => after(10, 0.2))).toEqual([64, 60, 60]);
});

test("agents are not asked to come so rarely that they would count as silent", () => {
  for (const intervals of [2, 3]) {
    const { after } = cadence(intervals);
    expect([after(10, 1), after(10, 1)]).toEqual([60, 60]);
  }
});

test("the thread that is looked at is this process's", () => {
  const one = new Cadence({
    heartbeatInterval_s: 60,
    silentAfterIntervals: 10,
    now: () => performance.now() * 1000,
  });
  const until = performance.now() + 200;
  while (performance.now() < until);
  expect(one.next()).toBe(75);
});
