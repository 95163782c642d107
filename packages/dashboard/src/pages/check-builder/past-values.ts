import type { Schemas } from "@attestore/contract/client";

type RestoreTest = Schemas["RestoreTestRecord"];

export interface PastValue {
  at: string;
  value: number;
}

/**
 * How many rows a table had in past restore tests, oldest first: each test counts them in a check
 * of its own.
 */
export function pastRows(tests: readonly RestoreTest[], table: string): PastValue[] {
  return tests
    .flatMap(({ created_at: at, checks }) => {
      const observed = checks.find(({ id }) => id === `inferred:rows:${table}`)?.observed["rows"];
      return typeof observed === "number" ? [{ at, value: observed }] : [];
    })
    .toReversed();
}
