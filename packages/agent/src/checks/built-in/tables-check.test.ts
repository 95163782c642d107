import { expect, test } from "vitest";
import { parseExpectation } from "../expectation/parse.ts";
import { tablesPresentCheck } from "./tables-check.ts";

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

test("its expectation is one that a configured check could have", () => {
  const check = tablesPresentCheck({ expected: ["a"], present: [], duration_ms });
  expect(() => parseExpectation(check?.expectation ?? "")).not.toThrow();
});
