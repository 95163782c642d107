import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow } from "../values/format-row.ts";
import { nextStep } from "../earlier-tests/loss-texts.ts";
import type { EarlierTests } from "../earlier-tests/earlier-tests.ts";

export const KINDS_ID = "inferred:kinds";

/** For each column of the check, the engines' names of the kinds that it counts. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  indexes: ["index"],
  constraints: ["constraint", "foreign key", "check"],
  triggers: ["trigger", "event_trigger"],
  functions: ["function", "procedure", "package"],
  views: ["view", "materialized_view"],
  rules: ["rule"],
  policies: ["policy"],
  events: ["event"],
  sequences: ["sequence"],
  types: ["type"],
  extensions: ["extension"],
  large_objects: ["large_object"],
};

/**
 * Of each kind of object there are at least half of the most that passed tests saw in 30 days. What
 * a source lost, or another program's dump left out, is restored without any error. Null if there
 * are none, and no test saw any.
 */
export function kindsCheck({
  kinds,
  seen,
  duration_ms,
}: {
  readonly kinds: ReadonlyMap<string, number>;
  readonly seen: EarlierTests | null;
  readonly duration_ms: number;
}): CheckOutcome | null {
  const columns = Object.entries(COLUMNS).flatMap(([column, names]) => {
    const count = names.reduce((sum, name) => sum + (kinds.get(name) ?? 0), 0);
    const best = seen?.best(KINDS_ID, column) ?? 0;
    return count === 0 && best === 0 ? [] : [{ column, count, best, floor: Math.ceil(best / 2) }];
  });
  if (columns.length === 0) return null;
  const floors = columns.filter(({ floor }) => floor > 0);
  const held = evaluateCheck(
    {
      id: KINDS_ID,
      query: "how many objects of each kind the restored copy has",
      // Before the first passed test, this only shows what there is.
      expect:
        floors.length === 0
          ? "objects > 0"
          : floors.map(({ column, floor }) => `${column} >= ${floor}`).join(" and "),
    },
    {
      kind: "rows",
      rows: [
        formatRow([
          ["objects", columns.reduce((sum, { count }) => sum + count, 0)],
          ...columns.map(({ column, count }) => [column, count] as const),
        ]),
      ],
    },
    duration_ms,
  );
  if (held.result === "passed" || seen === null) return held;
  const lost = floors
    .filter(({ count, floor }) => count < floor)
    .map(({ column, count, best }) => `${column.replace("_", " ")} ${count} of ${best}`);
  const error = `the restored copy has less than half of what passed tests of the last 30 days saw: ${lost.join(", ")}. ${nextStep(["."], seen.source)}`;
  return { ...held, observed: { error, ...held.observed } };
}
