import { expect, test } from "vitest";
import fc from "fast-check";
import type { ColumnProfile } from "@attestore/proof";
import { findSuspicions, type PastTable } from "./find-suspicions.ts";

const NORMAL: ColumnProfile = {
  name: "note",
  nulls: 100,
  distinct: 900,
  length: 60,
  entropy: 400,
  random: 0,
  newest: "2026-03-01",
};

const tableOf = (column: Partial<ColumnProfile>, rows = 10_000) => ({
  name: "public.orders",
  rows,
  columns: [{ ...NORMAL, ...column }],
});

const past = (days: number, of: (day: number) => Partial<ColumnProfile> = () => ({})): PastTable[] =>
  Array.from({ length: days }, (_, day) => ({
    madeAt: new Date(Date.parse("2026-03-01T03:00:00.000Z") + day * 86_400_000).toISOString(),
    table: tableOf(of(day)),
  }));

test.each([
  ["1 % of the texts encrypted", { random: 10 }, "random", 0],
  ["half of the values null", { nulls: 550 }, "nulls", 100],
  ["one text in every row", { distinct: 0 }, "distinct", 900],
  ["texts much longer", { length: 400 }, "length", 60],
  ["texts of one word", { length: 12 }, "length", 60],
  ["other characters", { entropy: 560 }, "entropy", 400],
  ["the newest rows overwritten", { newest: "2025-12-01" }, "newest", "2026-03-01"],
] as const)("%s stands out", (_, column, measure, before) => {
  const found = findSuspicions(tableOf(column), past(10));
  expect(found).toEqual([
    { table: "public.orders", column: "note", measure, now: column[measure as keyof typeof column], before },
  ]);
});

test("a column that is as before is not suspicious, nor is one without a history", () => {
  const numbers = { nulls: 120, distinct: 700, length: 75, entropy: 430, random: 1, newest: "2026-02-20" };
  expect(findSuspicions(tableOf(numbers), past(10))).toEqual([]);
  expect(findSuspicions(tableOf({ random: 1000 }), [])).toEqual([]);
  expect(findSuspicions(tableOf({ name: "new", random: 1000 }), past(10))).toEqual([]);
});

test("however slowly texts are encrypted, it is suspicious before 4 % of them are", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 3, noNaN: true }), (perDay) => {
      const history: PastTable[] = [];
      const days = past(900, (day) => ({ random: Math.round(day * perDay) }));
      const noticed = days.findIndex((each) => {
        const window = history.slice(-90);
        if (findSuspicions(each.table, window).length > 0) return true;
        history.push(each);
        return false;
      });
      expect(noticed).toBeGreaterThan(-1);
      expect(noticed * perDay).toBeLessThan(40);
    }),
    { numRuns: 15 },
  );
});

test("a share that always varied may vary on", () => {
  const varying = past(40, (day) => ({ random: 50 + (day % 7) * 20 }));
  expect(findSuspicions(tableOf({ random: 190 }), varying)).toEqual([]);
  expect(findSuspicions(tableOf({ random: 600 }), varying)).toHaveLength(1);
});

test("a few texts that look encrypted raise no alarm", () => {
  expect(findSuspicions(tableOf({ random: 40 }, 100), past(10))).toEqual([]);
});

test("numbers that become texts that look encrypted stand out, a column that is filled later does not", () => {
  const { random: _random, length: _length, entropy: _entropy, ...numbers } = NORMAL;
  const before = past(10).map((each) => ({ ...each, table: { ...each.table, columns: [numbers] } }));
  const found = findSuspicions(tableOf({ random: 1000 }), before);
  expect(found).toMatchObject([{ measure: "random", now: 1000, before: 0 }]);
  const empty = before.map((each) => ({
    ...each,
    table: { ...each.table, columns: [{ name: "note", nulls: 990 }] },
  }));
  expect(findSuspicions(tableOf({ random: 1000 }), empty)).toEqual([]);
});
