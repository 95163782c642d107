import { expect, test } from "vitest";
import { meansTable } from "./table-pattern.ts";
import { processorTime_ms } from "../../../test/processor-time.ts";

test.each([
  ["public.orders", "public.orders", true],
  ["orders", "public.orders", true],
  ["orders", "public.reorders", false],
  ["public.orders", "orders", false],
  ["tmp_*", "public.tmp_1", true],
  ["tmp_*", "public.tmp", false],
  ["*_old", "shop.orders_old", true],
  ["public.*", "public.orders", true],
  ["public.*", "archive.orders", false],
  ["a*b*a", "aba", true],
  ["a*a", "a", false],
  ["*", "shop.fs.files", true],
  ["files", "shop.fs.files", true],
])("%s means the table %s: %s", (pattern, table, expected) => {
  expect(meansTable(pattern, table)).toBe(expected);
});

test("no pattern is expensive", () => {
  const used_ms = processorTime_ms(() => expect(meansTable("*a".repeat(400), "a".repeat(399))).toBe(false));
  expect(used_ms).toBeLessThan(1_000);
});
