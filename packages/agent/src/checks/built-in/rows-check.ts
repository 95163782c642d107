import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck, failCheck } from "../evaluation/evaluate-check.ts";
import { rowCheckId } from "../inferred-id.ts";
import type { QueryOutcome } from "../evaluation/query-outcome.ts";

/**
 * How a table's rows are counted: `query` returns one row with the column `rows`, and returned
 * `outcome`.
 */
interface Counted {
  readonly table: string;
  readonly query: string;
  readonly outcome: QueryOutcome;
  readonly duration_ms: number;
}

/** A table has exactly the rows that were counted in the dump, and no fewer than a floor. */
export function rowCountCheck({
  rows,
  floor = null,
  ...counted
}: Counted & { readonly rows: number | bigint; readonly floor?: number | bigint | null }): CheckOutcome {
  return countCheck("=", rows, counted, floor === null ? "" : ` and rows >= ${floor}`);
}

/** A table has at least this many rows. */
export function rowFloorCheck({
  floor,
  ...counted
}: Counted & { readonly floor: number | bigint }): CheckOutcome {
  return countCheck(">=", floor, counted);
}

/** Anything that is not a count fails the check: `rows >= -1` would hold whatever was restored. */
function countCheck(
  operator: "=" | ">=",
  count: number | bigint,
  { table, query, outcome, duration_ms }: Counted,
  more = "",
): CheckOutcome {
  const definition = { id: rowCheckId(table), query, expect: `rows ${operator} ${count}${more}` };
  const isCount = count >= 0 && (typeof count === "bigint" || Number.isSafeInteger(count));
  if (!isCount) return failCheck(definition, "the backup's metadata has no row count", duration_ms);
  return evaluateCheck(definition, outcome, duration_ms);
}
