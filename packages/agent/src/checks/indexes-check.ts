import type { CheckOutcome } from "@attestore/proof";
import { clip } from "./clip.ts";
import { evaluateCheck } from "./evaluate-check.ts";
import { formatRow } from "./format-row.ts";
import { indexesCheckId } from "./inferred-checks.ts";

export interface CheckedIndexes {
  /** How many were looked at. */
  readonly indexes: number;
  /** Those that do not fit their table. */
  readonly unfit: readonly string[];
  /** What was not looked at, each with the reason. */
  readonly notChecked: readonly string[];
}

const MAX_NAMES = 200;

/**
 * Names the indexes of the restored copy that do not fit their tables. The restore itself built
 * them from the rows, so the dump is not to blame, and this fails no test: a function that is
 * declared immutable gives another result each time, or a collation of the sandbox orders texts
 * otherwise from one time to the next.
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
  return evaluateCheck(
    {
      id: indexesCheckId(of),
      query: "B-tree indexes that do not fit their table (amcheck), which fail no test",
      expect: "unfit >= 0",
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
}
