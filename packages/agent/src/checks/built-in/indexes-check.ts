import { type CheckOutcome, plural } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow, namesCells } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

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
  const row = formatRow([
    ["indexes", indexes],
    ["unfit", unfit.length],
    ...(unfit.length === 0 ? [] : [["unfit_names", clip(unfit.join(", "), MAX_NAMES)] as const]),
    ...namesCells("not_checked", "not_checked_names", notChecked, MAX_NAMES),
  ]);
  const outcome = evaluateCheck(
    {
      id: inferredId("indexes", of),
      query: "B-tree indexes that do not fit their table (amcheck)",
      expect: "unfit = 0",
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
  if (unfit.length === 0) return outcome;
  const error =
    `${plural(unfit.length, "index does", "indexes do")} not fit the table: ${clip(unfit.join(", "), MAX_NAMES)}. Queries that use it give wrong rows. ` +
    "The usual cause is a function that is declared immutable and is not: correct it at the source, run REINDEX there, and back up again";
  return { ...outcome, observed: { error, ...outcome.observed } };
}
