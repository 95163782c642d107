import { expect, test } from "vitest";
import { suspicionText } from "./suspicions.ts";

test.each([
  ["random", 12, 0, "the share of texts that look encrypted is 1.2 %; it was 0 %"],
  ["nulls", 550, 100, "the share of rows without a value is 55 %; it was 10 %"],
  ["distinct", 0, 900, "the share of different values is 0 %; it was 90 %"],
  ["length", 400, 60, "the typical length is 400 bytes; it was 60 bytes"],
  ["entropy", 560, 412, "the entropy is 5.6 bits a character; it was 4.12 bits a character"],
  ["newest", "2025-12-01", "2026-03-01", "the newest time is 2025-12-01; it was 2026-03-01"],
] as const)("what stands out in %s is said with both numbers", (measure, now, before, said) => {
  expect(suspicionText({ table: "public.orders", column: "note", measure, now, before })).toBe(
    `public.orders.note: ${said}`,
  );
});

test("that no table has a profile is said of all", () => {
  expect(suspicionText({ table: "*", column: "*", measure: "tables", now: 0, before: 12 })).toBe(
    "the number of tables with a profile is 0; it was 12",
  );
});

test.each([
  ["pictures", "mismatched", 700, 0, "the share that is not what the names say is 70 %; it was 0 %"],
  ["texts", "random", 12, 0, "the share that looks encrypted is 1.2 %; it was 0 %"],
  ["texts", "entropy", 790, 450, "the entropy of their starts is 7.9 bits a byte; it was 4.5 bits a byte"],
  ["documents", "files", "under 50", 400, "the number of files is under 50; it was 400"],
  ["names", "renamed", 90, 0, "the share of names as ransomware makes them is 9 %; it was 0 %"],
  ["names", "notes", 1, 0, "the number of names of known ransom notes is 1; it was 0"],
] as const)(
  "what stands out in files that are %s, %s, is said with both numbers",
  (column, measure, now, before, said) => {
    expect(suspicionText({ table: ".", column, measure, now, before })).toBe(`files (${column}): ${said}`);
  },
);
