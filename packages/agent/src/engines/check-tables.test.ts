import { expect, test } from "vitest";
import { checkTables } from "./check-tables.ts";
import { seenIn } from "../../test/runs/seen-in.ts";
import type { Seen } from "../checks/index.ts";

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

test("so is a small one, from one row on", async () => {
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
  const check = (seen: Seen | null, rows: number) =>
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
