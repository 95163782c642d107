import { firstIdAt } from "@attestore/contract";
import { expect, test } from "vitest";
import { EarlierTests } from "./earlier-tests.ts";
import type { AcceptedLoss, PassedTest } from "../passed-tests.ts";

/**
 * A year of daily restore tests, in which nothing is lost: how often would somebody be alarmed for
 * nothing?
 */

const DAY_MS = 24 * 3600 * 1000;
const START = Date.parse("2026-01-01T03:00:00.000Z");
const DAYS = 365;

/** The same numbers in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Table = (rows: number, day: number, chance: () => number) => number;

/** Each table's rows on the first day, and how they change from day to day. */
const SOURCES: Readonly<Record<string, Readonly<Record<string, readonly [number, Table]>>>> = {
  "a shop": {
    orders: [20_000, (rows, day, chance) => rows + (day % 365 > 325 ? 300 : 60) * (0.5 + chance())],
    products: [800, (rows, _, chance) => rows + Math.floor(chance() * 9) - 3],
    customers: [9_000, (rows, _, chance) => rows + 25 * chance() - 4 * chance()],
    carts: [900, (rows, day, chance) => (day % 7 === 0 ? rows * 0.8 : rows + 35 * chance())],
    settings: [12, (rows, day) => rows + (day % 90 === 0 ? 1 : 0)],
  },
  "software for tenants": {
    tenants: [200, (rows, _, chance) => rows + (chance() < 0.2 ? 1 : 0) - (chance() < 0.1 ? 1 : 0)],
    events: [1_000_000, (rows, _, chance) => rows * (0.985 + 0.03 * chance())],
    users: [3_000, (rows, _, chance) => rows + 10 * chance() - 3 * chance()],
  },
  "a content system": {
    posts: [1_500, (rows, _, chance) => rows + 4 * chance()],
    revisions: [20_000, (rows, day, chance) => (day % 30 === 29 ? rows * 0.8 : rows + 200 * chance())],
  },
  "measurements that are kept for a year": {
    readings: [12_000_000, (rows, day) => (day % 30 === 29 ? rows - 1_000_000 : rows + 33_333)],
    devices: [400, (rows, _, chance) => rows + (chance() < 0.3 ? 1 : 0)],
  },
  "accounts that are archived at the end of the year": {
    bookings: [80_000, (rows, day, chance) => (day === 300 ? rows * 0.6 : rows + 150 * chance())],
    imports: [5_000, (rows, day, chance) => (day % 45 === 44 ? rows + 200 : rows + 3 * chance())],
  },
};

/** Each alarm, by table and day. The loss is then accepted, and the test repeated. */
function alarmsOf(
  source: string,
  damage?: (rows: number, day: number) => number,
  seed = 7,
): [table: string, day: number][] {
  const chance = random(seed);
  const tables = Object.entries(SOURCES[source] ?? {});
  const rows = new Map(tables.map(([name, [first]]) => [name, first]));
  const alarms: [string, number][] = [];
  const accepted: AcceptedLoss[] = [];
  let tests: PassedTest[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    const now = START + day * DAY_MS;
    const at = new Date(now).toISOString();
    for (const [name, [, next]] of tables)
      rows.set(name, Math.max(0, Math.round(next(rows.get(name) ?? 0, day, chance))));
    if (damage !== undefined)
      for (const [name, count] of rows) rows.set(name, Math.round(damage(count, day)));
    const seen = new EarlierTests({ source: "simulated", tests, accepted, now });
    for (const [name, count] of rows) {
      const floor = seen.floorOf(name);
      if (floor === null || BigInt(count) >= floor.rows) continue;
      alarms.push([name, day]);
      accepted.push({ table: name, at, upTo: tests[0]?.madeAt ?? at });
    }
    const checks = [...rows].map(([name, count]) => ({
      id: `inferred:rows:${name}`,
      observed: { rows: count },
    }));
    tests = [{ at, madeAt: at, backupId: firstIdAt("backup", now), checks }, ...tests].slice(0, 100);
  }
  return alarms;
}

test.each(Object.keys(SOURCES))(
  "%s alarms at most once a year for nothing, in each of five years",
  (source) => {
    for (const seed of [7, 11, 101, 7919, 39_596]) {
      const alarms = alarmsOf(source, undefined, seed);
      expect(alarms.length, `${seed}: ${JSON.stringify(alarms)}`).toBeLessThanOrEqual(1);
    }
  },
);

test("the year would show a rule that is too strict: archiving at its end is noticed once", () => {
  expect(alarmsOf("accounts that are archived at the end of the year")).toEqual([["bookings", 300]]);
});

test.each([
  ["a shop", ["orders", "products", "customers"]],
  ["software for tenants", ["tenants", "users"]],
  ["a content system", ["posts"]],
  ["measurements that are kept for a year", ["devices"]],
] as const)(
  "%s: a tenth of the rows deleted on one day is noticed in all tables that never shrink",
  (source, expected) => {
    for (const [seed, on] of [
      [7, 200],
      [11, 40],
      [101, 120],
      [7919, 280],
      [39_596, 350],
    ] as const) {
      const alarms = alarmsOf(source, (rows, day) => (day === on ? rows * 0.9 : rows), seed);
      const noticed = alarms.filter(([, day]) => day === on).map(([table]) => table);
      expect(noticed, String(on)).toEqual(expect.arrayContaining([...expected]));
    }
  },
);

test("half of the rows deleted is noticed in every table", () => {
  for (const [source, tables] of Object.entries(SOURCES)) {
    const alarms = alarmsOf(source, (rows, day) => (day === 200 ? Math.floor(rows / 2) : rows));
    const noticed = alarms.filter(([, day]) => day === 200).map(([table]) => table);
    expect(noticed.toSorted(), source).toEqual(Object.keys(tables).toSorted());
  }
});
