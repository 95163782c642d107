import { type CheckOutcome, plural } from "@attestore/proof";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow } from "../values/format-row.ts";
import { tableOfRowCheck } from "../inferred-id.ts";
import { nextStep } from "../earlier-tests/loss-texts.ts";
import type { EarlierTests } from "../earlier-tests/earlier-tests.ts";
import { moreThanHalf } from "../earlier-tests/row-floors.ts";

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
 * All tables together have more than half of the most rows that passed tests saw in 30 days, and as
 * many tables have rows as in the newest. This finds losses that the tables' own floors cannot: in
 * tables that a receipt does not name. Null if there were none.
 */
export function totalRowsCheck(
  outcomes: readonly Observed[],
  seen: EarlierTests | null,
): CheckOutcome | null {
  if (seen === null || !seen.hasFloors || seen.newest === null) return null;
  const counts = (table: string): boolean => !seen.mayShrink(table) && !seen.wasAccepted(table);
  const before = totalsOf(seen.newest.checks, counts);
  const gone = seen.acceptedUnnamed;
  const most = Math.max(0, ...seen.recent.map(({ checks }) => totalsOf(checks, counts).rows - gone.rows));
  if (most === 0) return null;
  const now = totalsOf(outcomes, counts);
  const tables = now.filled + now.empty;
  // A dropped table has no rows to lose, and a new one may be empty.
  const filled = Math.max(1, Math.min(before.filled - gone.tables, tables - before.empty));
  const held = evaluateCheck(
    {
      id: "inferred:total",
      query: "the rows of all tables that were counted, and how many tables have any",
      expect: `rows >= ${moreThanHalf(most)} and filled >= ${filled}`,
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
  if (held.result === "passed") return held;
  const error =
    `all tables together have ${plural(now.rows, "row")}, ${now.filled} of ${plural(tables, "table")} with any; ` +
    `passed tests of the last 30 days saw up to ${plural(most, "row")}. ${nextStep([], seen.source)}`;
  return { ...held, observed: { error, ...held.observed } };
}

function totalsOf(checks: readonly Observed[], counts: (table: string) => boolean): Totals {
  let [rows, filled, empty] = [0, 0, 0];
  for (const { id, observed } of checks) {
    const table = tableOfRowCheck(id);
    if (table !== null) {
      if (!counts(table)) continue;
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
 * Counts beyond what a number holds exactly are written as `{"number": "…"}`; here they need not be
 * exact.
 */
function numberOf(value: unknown): number {
  const number =
    typeof value === "object" && value !== null && "number" in value ? Number(value.number) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? Math.floor(number) : 0;
}
