import fc from "fast-check";
import { expect, test } from "vitest";
import { tablesOfMetadata } from "./tables-of-metadata.ts";

test("names and counts are read from the metadata, and nothing else", () => {
  const tables = [
    { name: "a", rows: 3, schema: "00" },
    { name: "b", rows: "9007199254740993" },
    { name: "c", rows_at_least: 7 },
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
    { name: "a", rows: 3n, atLeast: null },
    { name: "b", rows: 9007199254740993n, atLeast: null },
    { name: "c", rows: null, atLeast: 7n },
    { name: "d", rows: null, atLeast: null },
    { name: "e", rows: null, atLeast: null },
    { name: "f", rows: null, atLeast: null },
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
