import { comparedContentText, type CheckOutcome } from "@attestore/proof";
import { expect, test } from "vitest";
import { withUncompared } from "./uncompared-databases.ts";

const outcome = (id: string, observed: Record<string, unknown>): CheckOutcome => ({
  id,
  definition_sha256: "a".repeat(64),
  observed,
  expectation: "differing = 0",
  result: "passed",
  duration_ms: 0,
});
const outcomes = [
  outcome("inferred:content:one", {
    tables: 3,
    differing: 0,
    not_compared: 1,
    not_compared_tables: "one.public.prices (money)",
  }),
  outcome("inferred:objects:one", { objects: 9, differing: 0 }),
];

test("databases of a set of which nothing was compared are named", () => {
  const databases = [
    { name: "two", tables: 40, lacksObjects: true },
    { name: "three", tables: 2, lacksObjects: false },
    { name: "four", tables: 0, lacksObjects: true },
  ];
  expect(comparedContentText(withUncompared(outcomes, databases))).toBe(
    "content of 3 tables compared; not compared: the database two (database_not_compared), " +
      "the database three (database_not_compared), one.public.prices (money) and 40 more; " +
      "9 objects compared, not compared: objects of the database two, objects of the database four",
  );
});

test("nothing is added where every database was compared, or none", () => {
  expect(withUncompared(outcomes, [])).toEqual(outcomes);
  expect(withUncompared([], [{ name: "two", tables: 40, lacksObjects: true }])).toEqual([]);
});
