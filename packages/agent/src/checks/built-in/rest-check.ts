import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { quoteText } from "../expectation/expression.ts";
import { formatRow } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

/**
 * The tables that a receipt has no room to name have exactly the signed counts. `expected` is null
 * if those are not known: then this only shows what there is, for the next test's floors.
 */
export function restCheck({
  of,
  expected,
  duration_ms,
  ...found
}: {
  /** The database, if there are several. */
  readonly of?: string;
  readonly expected: { readonly tables: number; readonly sha256: string } | null;
  readonly tables: number;
  readonly rows: bigint;
  readonly filled: number;
  readonly empty: number;
  readonly sha256: string;
  readonly duration_ms: number;
}): CheckOutcome {
  const definition = {
    id: inferredId("rest", of),
    query: "the rows of every table that the backup's metadata do not name",
    expect:
      expected === null
        ? "tables > 0"
        : `tables = ${expected.tables} and sha256 = ${quoteText(expected.sha256)}`,
  };
  const { tables, rows, filled, empty, sha256 } = found;
  const row = formatRow([
    ["tables", tables],
    ["rows", rows],
    ["filled", filled],
    ["empty", empty],
    ["sha256", sha256],
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}
