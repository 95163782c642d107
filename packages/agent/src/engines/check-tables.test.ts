import { expect, test } from "vitest";
import { checkTables } from "./check-tables.ts";

const failed = async (
  table: { readonly rows?: number; readonly rows_at_least?: number },
  before: number,
  now: number,
): Promise<string[]> => {
  const outcomes = await checkTables({
    metadata: { tables: [{ name: "t", ...table }] },
    lastPassed: { checks: [{ id: "inferred:rows:t", observed: { rows: before } }] },
    tables: ["t"],
    readOne: () => Promise.resolve(true),
    count: () => Promise.resolve({ kind: "rows", rows: [`{"rows":${now}}`] }),
    countQuery: () => "count",
  });
  return outcomes.filter(({ result }) => result === "failed").map(({ expectation }) => expectation);
};

test.each([
  ["counted exactly", { rows: 10 }, "rows = 10 and rows >= 500000"],
  ["counted while it was written to", { rows_at_least: 5 }, "rows >= 500000"],
  ["not counted", {}, "rows >= 500000"],
])("a table %s that somebody emptied since a test last passed is noticed", async (_, table, expectation) => {
  expect(await failed(table, 1_000_000, 10)).toEqual([expectation]);
});

test("a small table may well lose rows, where they were counted with the dump", async () => {
  expect(await failed({ rows: 0 }, 999, 0)).toEqual([]);
  expect(await failed({ rows_at_least: 5 }, 999, 6)).toEqual([]);
  expect(await failed({ rows_at_least: 5 }, 999, 4)).toEqual(["rows >= 5"]);
  expect(await failed({}, 999, 0)).toEqual(["rows >= 499"]);
});
