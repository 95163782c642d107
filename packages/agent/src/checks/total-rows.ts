import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck } from "./evaluate-check.ts";
import { formatRow } from "./format-row.ts";
import { rowCheckId } from "./inferred-checks.ts";

interface Observed {
  readonly id: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

interface Totals {
  readonly rows: number;
  /** Tables with rows, and without. */
  readonly filled: number;
  readonly empty: number;
}

/**
 * All tables together have half of the rows that they had when last a test passed, and as many of
 * them have any. It finds what the tables' own floors cannot: those that are no longer there, and
 * those that a receipt does not name. Null where there were none.
 */
export function totalRowsCheck(
  outcomes: readonly Observed[],
  lastPassed: { readonly checks: readonly Observed[]; readonly mayShrink?: readonly string[] } | null,
): CheckOutcome | null {
  if (lastPassed === null) return null;
  const shrinking = new Set((lastPassed.mayShrink ?? []).map(rowCheckId));
  const before = totalsOf(lastPassed.checks, shrinking);
  if (before.rows === 0) return null;
  const now = totalsOf(outcomes, shrinking);
  const tables = now.filled + now.empty;
  // A table that was dropped has no rows to lose; one that is new may well be empty.
  const filled = Math.max(1, Math.min(before.filled, tables - before.empty));
  return evaluateCheck(
    {
      id: "inferred:total",
      query: "the rows of all tables that were counted, and how many tables have any",
      expect: `rows >= ${Math.ceil(before.rows / 2)} and filled >= ${filled}`,
    },
    {
      kind: "rows",
      rows: [
        formatRow([
          ["tables", tables],
          ["rows", now.rows],
          ["filled", now.filled],
        ]),
      ],
    },
    0,
  );
}

const ROWS = rowCheckId("");

function totalsOf(checks: readonly Observed[], shrinking: ReadonlySet<string>): Totals {
  let [rows, filled, empty] = [0, 0, 0];
  for (const { id, observed } of checks) {
    if (shrinking.has(id)) continue;
    if (id.startsWith(ROWS)) {
      const count = numberOf(observed["rows"]);
      rows += count;
      if (count > 0) filled += 1;
      else empty += 1;
    } else if (id === "inferred:rest" || id.startsWith("inferred:rest:")) {
      rows += numberOf(observed["rows"]);
      filled += numberOf(observed["filled"]);
      empty += numberOf(observed["empty"]);
    }
  }
  return { rows, filled, empty };
}

/**
 * Counts beyond what a number holds exactly stand as `{"number": "…"}`; here they need not be
 * exact.
 */
function numberOf(value: unknown): number {
  const number =
    typeof value === "object" && value !== null && "number" in value ? Number(value.number) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? Math.floor(number) : 0;
}
