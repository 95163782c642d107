import { type CheckOutcome, plural } from "@attestore/proof";
import { clip } from "./clip.ts";
import { evaluateCheck } from "./evaluate-check.ts";
import { formatRow } from "./format-row.ts";
import { indexesCheckId } from "./inferred-checks.ts";

export interface CheckedIndexes {
  /** How many were looked at. */
  readonly indexes: number;
  /** Those that do not fit their table. */
  readonly unfit: readonly string[];
  /** Indexes that were not looked at, each with the reason. */
  readonly notChecked: readonly string[];
}

const MAX_NAMES = 200;

/**
 * Fails if an index of the restored copy does not fit its table: queries that use it give wrong
 * rows, in the copy and wherever else the dump is restored. The restore has just built it from the
 * rows, so the usual cause is a function that is declared immutable and is not.
 */
export function indexesCheck(
  { indexes, unfit, notChecked }: CheckedIndexes,
  { of, duration_ms }: { readonly of?: string; readonly duration_ms: number },
): CheckOutcome {
  const named = (names: readonly string[]): string => clip(names.join(", "), MAX_NAMES);
  const row = formatRow([
    ["indexes", indexes],
    ["unfit", unfit.length],
    ...(unfit.length === 0 ? [] : [["unfit_names", named(unfit)] as const]),
    ...(notChecked.length === 0
      ? []
      : ([
          ["not_checked", notChecked.length],
          ["not_checked_names", named(notChecked)],
        ] as const)),
  ]);
  const outcome = evaluateCheck(
    {
      id: indexesCheckId(of),
      query: "B-tree indexes that do not fit their table (amcheck)",
      expect: "unfit = 0",
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
  if (unfit.length === 0) return outcome;
  const error =
    `${plural(unfit.length, "index does", "indexes do")} not fit the table: ${named(unfit)}. Queries that use it give wrong rows. ` +
    "The usual cause is a function that is declared immutable and is not: correct it at the source, run REINDEX there, and back up again";
  return { ...outcome, observed: { error, ...outcome.observed } };
}
