import { expect, test } from "vitest";
import { parseExpectation } from "./expectation/parse.ts";
import {
  digestCheck,
  rowCountCheck,
  rowFloorCheck,
  sqliteIntegrityCheck,
  tablesPresentCheck,
} from "./inferred-checks.ts";
import type { QueryOutcome } from "./query-outcome.ts";

const duration_ms = 3;

test("inferred:tables fails if a table is missing, and names it", () => {
  const expected = ["public.orders", "public.lines"];
  const all = tablesPresentCheck({
    expected,
    present: ["public.lines", "public.more", "public.orders"],
    duration_ms,
  });
  expect(all).toMatchObject({
    id: "inferred:tables",
    expectation: "missing = 0",
    observed: { tables: 2, missing: 0 },
    result: "passed",
    duration_ms: 3,
  });
  expect(
    tablesPresentCheck({ expected, present: ["public.Orders", "public.lines"], duration_ms }),
  ).toMatchObject({
    observed: { tables: 2, missing: 1, missing_tables: "public.orders" },
    result: "failed",
  });
  const many = Array.from({ length: 5_000 }, (_, i) => `public.table_${i}`);
  expect(tablesPresentCheck({ expected: many, present: [], duration_ms })).toMatchObject({
    observed: { missing: 5_000, missing_tables: { length: expect.any(Number) } },
    result: "failed",
  });
  expect(tablesPresentCheck({ expected: [], present: ["a"], duration_ms })).toBeNull();
});

test("the digest of inferred:tables covers which tables, whatever their order", () => {
  const digest = (expected: string[]): unknown =>
    tablesPresentCheck({ expected, present: [], duration_ms })?.definition_sha256;
  expect(digest(["a", "b"])).toBe(digest(["b", "a", "b"]));
  expect(digest(["a", "b"])).not.toBe(digest(["a, b"]));
});

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

test("a digest check fails with another digest, and without one", () => {
  const expectedSha256 = "ab".repeat(32);
  const same = digestCheck({ name: "manifest", expectedSha256, observedSha256: expectedSha256, duration_ms });
  expect(same).toMatchObject({
    id: "inferred:manifest",
    observed: { sha256: expectedSha256 },
    result: "passed",
  });
  const other = digestCheck({
    name: "manifest",
    expectedSha256,
    observedSha256: "ac".repeat(32),
    duration_ms,
  });
  expect(other.result).toBe("failed");
  const none = digestCheck({ name: "manifest", expectedSha256: "", observedSha256: "", duration_ms });
  expect(none).toMatchObject({
    observed: { error: "the backup's metadata has no SHA-256 of the manifest" },
    result: "failed",
  });
});

test("SQLite's integrity check passes with one ok and nothing else", () => {
  const check = (...messages: string[]) => sqliteIntegrityCheck({ messages, duration_ms });
  expect(check("ok")).toMatchObject({
    id: "inferred:integrity",
    observed: { messages: 1, message: "ok" },
    result: "passed",
  });
  expect(check().result).toBe("failed");
  expect(check("ok", "ok").result).toBe("failed");
  expect(check("row 3 missing from index").result).toBe("failed");
});

test("every expectation is one that a configured check could have", () => {
  const checks = [
    tablesPresentCheck({ expected: ["a"], present: [], duration_ms }),
    rowFloorCheck({ ...counted, floor: 1, outcome: rows("1") }),
    rowCountCheck({ ...counted, rows: 1, outcome: rows("1") }),
    digestCheck({ name: "a", expectedSha256: "a'b", observedSha256: "a'b", duration_ms }),
    sqliteIntegrityCheck({ messages: [], duration_ms }),
  ];
  for (const check of checks) expect(() => parseExpectation(check?.expectation ?? "")).not.toThrow();
});
