import { describe, expect, test } from "vitest";
import { checkTables } from "./check-tables.ts";
import { seenIn } from "../../test/runs/earlier-tests-in.ts";
import type { EarlierTests } from "../checks/index.ts";

const failed = async (
  table: { readonly rows?: number; readonly rows_at_least?: number },
  before: number,
  now: number,
): Promise<string[]> => {
  const outcomes = await checkTables({
    metadata: { tables: [{ name: "t", ...table }] },
    seen: seenIn([{ id: "inferred:rows:t", observed: { rows: before } }]),
    tables: ["t"],
    readOne: () => Promise.resolve(true),
    count: () => Promise.resolve({ kind: "rows", rows: [`{"rows":${now}}`] }),
    countQuery: () => "count",
  });
  return outcomes.filter(({ result }) => result === "failed").map(({ expectation }) => expectation);
};

test.each([
  ["counted exactly", { rows: 10 }, "rows = 10 and rows >= 500001"],
  ["counted while it was written to", { rows_at_least: 5 }, "rows >= 500001"],
  ["not counted", {}, "rows >= 500001"],
])("a table %s that somebody emptied since a test last passed is noticed", async (_, table, expectation) => {
  expect(await failed(table, 1_000_000, 10)).toEqual([expectation]);
});

test("a small one is noticed too, from one row on", async () => {
  expect(await failed({ rows: 0 }, 999, 0)).toEqual(["rows = 0 and rows >= 500"]);
  expect(await failed({ rows: 0 }, 1, 0)).toEqual(["rows = 0 and rows >= 1"]);
  expect(await failed({ rows_at_least: 0 }, 3, 1)).toEqual(["rows >= 2"]);
  expect(await failed({ rows_at_least: 5 }, 8, 4)).toEqual(["rows >= 5"]);
  expect(await failed({}, 999, 0)).toEqual(["rows >= 500"]);
  expect(await failed({ rows: 0 }, 0, 0)).toEqual([]);
  expect(await failed({ rows: 5 }, 9, 5)).toEqual([]);
});

test("a floor finds its table by the id that a receipt has, however long the name is", async () => {
  const name = `public.${"x".repeat(250)}`;
  const check = (seen: EarlierTests | null, rows: number) =>
    checkTables({
      metadata: { tables: [{ name, rows }] },
      seen,
      tables: [name],
      readOne: () => Promise.resolve(true),
      count: () => Promise.resolve({ kind: "rows", rows: [`{"rows":${rows}}`] }),
      countQuery: () => "count",
    });
  const passed = await check(null, 10);
  expect((await check(seenIn(passed), 4)).map(({ result }) => result)).toEqual(["passed", "failed"]);
});

describe("tables that the backup did not count", () => {
  const check = async (counts: Readonly<Record<string, number>>, slow: readonly string[] = []) => {
    const asked: string[] = [];
    const outcomes = await checkTables({
      metadata: {
        tables: Object.keys(counts).map((name) => ({ name })),
        table_count: Object.keys(counts).length,
      },
      seen: null,
      tables: Object.keys(counts),
      readOne: () => Promise.resolve(true),
      count: (table, seconds) => {
        asked.push(table);
        return Promise.resolve(
          slow.includes(table)
            ? { kind: "timeout", after_s: seconds ?? 0 }
            : { kind: "rows", rows: [`{"rows":${counts[table]}}`] },
        );
      },
      countQuery: () => "count",
    });
    const of = (id: string) => outcomes.find((each) => each.id === id)?.observed;
    return { asked, of };
  };

  test("are counted in the copy, the smallest first, so that the next test knows what they had", async () => {
    const { asked, of } = await check({ large: 900, small: 3 });
    expect(asked).toEqual(["small", "large"]);
    expect(of("inferred:rows:large")).toEqual({ rows: 900 });
    expect(of("inferred:tables")).toEqual({ tables: 2, missing: 0 });
  });

  test("are named if there was no time for that either; the others are counted all the same", async () => {
    const { of } = await check({ large: 900, endless: 5, small: 3 }, ["endless"]);
    expect(of("inferred:rows:large")).toEqual({ rows: 900 });
    expect(of("inferred:tables")).toEqual({
      tables: 3,
      missing: 0,
      not_counted: 1,
      not_counted_tables: "endless",
    });
  });
});

describe("tables that neither the metadata name nor the source counted", () => {
  const check = async (
    counts: Readonly<Record<string, number>>,
    { seen = null, slow = [] }: { seen?: EarlierTests | null; slow?: readonly string[] } = {},
  ) => {
    const unnamed = new Map<string, bigint>();
    const outcomes = await checkTables({
      metadata: { tables: [{ name: "named", rows: 9 }], table_count: 4 },
      seen,
      tables: ["named", ...Object.keys(counts)],
      readOne: () => Promise.resolve(true),
      count: (table, seconds) =>
        Promise.resolve(
          slow.includes(table)
            ? { kind: "timeout", after_s: seconds ?? 0 }
            : { kind: "rows", rows: [`{"rows":${table === "named" ? 9 : counts[table]}}`] },
        ),
      countQuery: () => "count",
      onUnnamed: (table, rows) => void unnamed.set(table, rows),
    });
    const of = (id: string) => outcomes.find((each) => each.id === id)?.observed;
    return { outcomes, of, unnamed };
  };

  test("are counted in the copy, so that the next test misses one that is gone or empty", async () => {
    const { of, unnamed } = await check({ a: 7, b: 0, c: 3 });
    expect(of("inferred:rest")).toMatchObject({ tables: 3, rows: 10, filled: 2, empty: 1 });
    expect(of("inferred:tables")).toEqual({ tables: 1, missing: 0 });
    expect(Object.fromEntries(unnamed)).toEqual({ a: 7n, b: 0n, c: 3n });
    const seen = seenIn([{ id: "inferred:rows:c", observed: { rows: 3 } }]);
    const { outcomes } = await check({ a: 7, b: 0, c: 0 }, { seen });
    expect(outcomes.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
      "inferred:rows:c",
    ]);
  });

  test("are named by their number if there was no time for one of them", async () => {
    const { of, unnamed } = await check({ a: 7, b: 0, c: 3 }, { slow: ["a"] });
    expect(of("inferred:rest")).toBeUndefined();
    expect(of("inferred:tables")).toEqual({ tables: 1, missing: 0, not_counted: 1 });
    expect([...unnamed.keys()]).toEqual(["c", "b"]);
  });
});

test("a table without rows is named as long as no test saw any in it", async () => {
  const empty = async (seen: EarlierTests | null) => {
    const outcomes = await checkTables({
      metadata: {
        tables: [
          { name: "t", rows: 0 },
          { name: "u", rows: 1 },
        ],
      },
      seen,
      tables: ["t", "u"],
      readOne: () => Promise.resolve(true),
      count: (table) => Promise.resolve({ kind: "rows", rows: [`{"rows":${table === "t" ? 0 : 1}}`] }),
      countQuery: () => "count",
    });
    return outcomes[0]?.observed;
  };
  expect(await empty(null)).toEqual({ tables: 2, missing: 0, empty: 1, empty_tables: "t" });
  expect(await empty(seenIn([{ id: "inferred:rows:t", observed: { rows: 0 } }]))).toMatchObject({ empty: 1 });
  expect(await empty(seenIn([{ id: "inferred:rows:t", observed: { rows: 5 } }]))).toEqual({
    tables: 2,
    missing: 0,
  });
});
