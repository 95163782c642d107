import { expect, test } from "vitest";
import { countEach } from "./row-counts.ts";

/** Counts with its own clock. A table takes that many seconds, but no longer than it may. */
async function counted(seconds: Readonly<Record<string, number>>, budget_s: number): Promise<string[]> {
  let now_ms = 0;
  const counts = await countEach(
    Object.keys(seconds),
    budget_s,
    (name, limit_s) => {
      const takes_s = seconds[name] ?? 0;
      now_ms += Math.min(takes_s, limit_s) * 1000;
      return Promise.resolve(takes_s <= limit_s ? 1n : null);
    },
    () => now_ms,
  );
  return [...counts.keys()];
}

test("a table that never ends leaves half of the time to those after it", async () => {
  expect(await counted({ small: 1, endless: 9_999, large: 10, larger: 9 }, 60)).toEqual([
    "small",
    "large",
    "larger",
  ]);
});

test("several that never end do not stop the small ones after them from being counted", async () => {
  expect(await counted({ a: 9_999, b: 9_999, c: 9_999, d: 1, e: 1 }, 60)).toEqual(["d", "e"]);
});

test("the budget is never exceeded", async () => {
  expect(
    await counted(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`t${at}`, 1])), 60),
  ).toHaveLength(59);
});
