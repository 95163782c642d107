import { type CheckOutcome, plural } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow, namesCells } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

/** A constraint that rows of the restored copy break. */
export interface BrokenConstraint {
  readonly name: string;
  readonly rows: bigint;
  /**
   * `foreign_key`: PostgreSQL validated it when it was restored, so no row may break it. A source
   * may have rows that break one that is NOT VALID. A check constraint (`check`) held when the row
   * was restored: what it computes depends on more than the row. MariaDB restores without looking
   * at foreign keys, and a source may have rows that break one (`not_enforced`).
   */
  readonly why: "foreign_key" | "not_valid" | "check" | "not_enforced";
}

export interface CheckedConstraints {
  /** How many foreign keys were looked at. */
  readonly foreignKeys: number;
  /** How many of them the server validated during the restore and has enforced since. */
  readonly validatedByRestore?: number;
  /** How many check constraints were looked at. Null if the restore itself enforces them. */
  readonly checks: number | null;
  readonly broken: readonly BrokenConstraint[];
  /** Constraints for which there was no time, or which the server could not evaluate. */
  readonly notChecked: readonly string[];
}

const MAX_NAMES = 200;

/**
 * No row of the restored copy breaks a foreign key that was validated. Rows that break another
 * constraint are the source's own matter, and shown.
 */
export function constraintsCheck(
  { foreignKeys, validatedByRestore = 0, checks, broken, notChecked }: CheckedConstraints,
  { of, duration_ms }: { readonly of?: string; readonly duration_ms: number },
): CheckOutcome {
  const lost = broken.filter(({ why }) => why === "foreign_key");
  const ofSource = broken.filter(({ why }) => why !== "foreign_key");
  const names = (all: readonly BrokenConstraint[]): string =>
    clip(
      all
        .map(({ name, rows, why }) => `${name} (${rows}${why === "not_valid" ? ", NOT VALID" : ""})`)
        .join(", "),
      MAX_NAMES,
    );
  const row = formatRow([
    ["foreign_keys", foreignKeys],
    ...(validatedByRestore === 0 ? [] : [["validated_by_restore", validatedByRestore] as const]),
    ...(checks === null ? [] : [["check_constraints", checks] as const]),
    ["broken", lost.reduce((sum, { rows }) => sum + rows, 0n)],
    ...(lost.length === 0 ? [] : [["broken_names", names(lost)] as const]),
    ...(ofSource.length === 0
      ? []
      : ([
          ["not_met", ofSource.length],
          ["not_met_names", names(ofSource)],
        ] as const)),
    ...namesCells("not_checked", "not_checked_names", notChecked, MAX_NAMES),
  ]);
  const outcome = evaluateCheck(
    {
      id: inferredId("foreign_keys", of),
      query: "rows that break a foreign key or a check constraint",
      expect: "broken = 0",
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
  const [first] = lost;
  if (first === undefined) return outcome;
  const more =
    lost.length > 1
      ? `, and ${plural(lost.length - 1, "more foreign key is", "more foreign keys are")} broken`
      : "";
  const error =
    `${plural(first.rows, "row")} of the restored copy ${Number(first.rows) === 1 ? "breaks" : "break"} the foreign key ${clip(first.name, 160)}, which it says was validated${more}: ` +
    "look for rows that refer to none at the source. If there are some, correct them, or make the constraint NOT VALID, and back up again";
  return { ...outcome, observed: { ...outcome.observed, error } };
}
