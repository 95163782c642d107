import { expect, test } from "vitest";
import { parseExpectation } from "../expectation/parse.ts";
import type { QueryOutcome } from "../evaluation/query-outcome.ts";
import { rowCountCheck, rowFloorCheck } from "./rows-check.ts";

const duration_ms = 3;

const rows = (n: string): QueryOutcome => ({ kind: "rows", rows: [`{"rows":${n}}`] });
const counted = { table: "public.orders", query: "select count(*) as rows from public.orders", duration_ms };

test("a row floor fails below the floor, and without a count", () => {
  const check = (floor: number | bigint, outcome: QueryOutcome) =>
    rowFloorCheck({ ...counted, floor, outcome });
  expect(check(20_000, rows("20000"))).toMatchObject({
    id: "inferred:rows:public.orders",
    expectation: "rows >= 20000",
    observed: { rows: 20_000 },
    result: "passed",
  });
  expect(check(20_000, rows("20001")).result).toBe("passed");
  expect(check(20_000, rows("19999"))).toMatchObject({ observed: { rows: 19_999 }, result: "failed" });
  expect(check(2n ** 53n + 1n, rows("9007199254740993")).result).toBe("passed");
  expect(check(2n ** 53n + 1n, rows("9007199254740992")).result).toBe("failed");
  expect(check(1, { kind: "timeout", after_s: 9 }).result).toBe("failed");
  expect(check(0, { kind: "error", message: "no such table" }).result).toBe("failed");
});

test("a row count fails with more rows or fewer", () => {
  const check = (n: number | bigint, outcome: QueryOutcome) =>
    rowCountCheck({ ...counted, rows: n, outcome });
  expect(check(20_000, rows("20000"))).toMatchObject({ expectation: "rows = 20000", result: "passed" });
  expect(check(20_000, rows("20001")).result).toBe("failed");
  expect(check(20_000, rows("19999")).result).toBe("failed");
  expect(check(0n, rows("0")).result).toBe("passed");
});

test.each([-1, -1n, 0.5, NaN, Infinity, 2 ** 53])("%s is not a count, and fails the check", (none) => {
  const failed = { observed: { error: "the backup's metadata has no row count" }, result: "failed" };
  expect(rowFloorCheck({ ...counted, floor: none, outcome: rows("20000") })).toMatchObject(failed);
  expect(rowCountCheck({ ...counted, rows: none, outcome: rows(String(none)) })).toMatchObject(failed);
});

test("its expectations are such that a configured check could have", () => {
  const checks = [
    rowFloorCheck({ ...counted, floor: 1, outcome: rows("1") }),
    rowCountCheck({ ...counted, rows: 1, outcome: rows("1") }),
  ];
  for (const { expectation } of checks) expect(() => parseExpectation(expectation)).not.toThrow();
});
