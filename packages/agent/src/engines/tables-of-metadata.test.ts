import fc from "fast-check";
import { expect, test } from "vitest";
import { tablesOfMetadata } from "./tables-of-metadata.ts";

test("names and counts, and nothing else", () => {
  const tables = [
    { name: "a", rows: 3, schema: "00" },
    { name: "b", rows: "9007199254740993" },
    { name: "c" },
    { name: "d", rows: -1 },
    { name: "e", rows: 1.5 },
    { name: "f", rows: "1e3" },
    { name: "" },
    { name: 5 },
    { name: "x".repeat(301) },
    null,
    "g",
  ];
  expect(tablesOfMetadata({ tables })).toEqual([
    { name: "a", rows: 3n },
    { name: "b", rows: 9007199254740993n },
    { name: "c", rows: null },
    { name: "d", rows: null },
    { name: "e", rows: null },
    { name: "f", rows: null },
  ]);
});

test("any JSON is taken", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (tables) => {
      for (const { name, rows } of tablesOfMetadata({ tables })) {
        expect(name).not.toBe("");
        expect(rows === null || rows >= 0n).toBe(true);
      }
    }),
  );
});
