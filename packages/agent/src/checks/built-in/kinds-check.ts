import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow } from "../values/format-row.ts";
import { nextStep } from "../earlier-tests/loss-texts.ts";
import type { EarlierTests } from "../earlier-tests/earlier-tests.ts";

export const KINDS_ID = "inferred:kinds";

/** The kind of grants: the only one that an engine may not be able to count. */
export const GRANT_KIND = "grant";

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
  grants: [GRANT_KIND],
};

/** Rows rather than objects: applications remove some every day. */
const AS_ROWS: ReadonlySet<string> = new Set(["large_objects"]);

interface Counted {
  readonly column: string;
  readonly count: number;
  /** The most that passed tests of the last 30 days saw. */
  readonly best: number;
  /** What the backup that was tested before had. */
  readonly before: number;
}

/**
 * Of each kind of object there are at least half of the most that passed tests saw in 30 days. What
 * a source lost, or another program's dump left out, is restored without any error. A smaller loss
 * since the backup before is told (`fewer`), because it may be right. Null if there are none, and
 * no test saw any.
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
  const counted = Object.entries(COLUMNS).filter(
    ([, names]) => !names.includes(GRANT_KIND) || kinds.has(GRANT_KIND),
  );
  const all = counted.map(([column, names]): Counted => {
    const count = names.reduce((sum, name) => sum + (kinds.get(name) ?? 0), 0);
    const best = seen?.best(KINDS_ID, column) ?? 0;
    return { column, count, best, before: seen?.before(KINDS_ID, column) ?? 0 };
  });
  const columns = all.filter(({ count, best }) => count > 0 || best > 0);
  if (columns.length === 0) return null;
  const floors = columns.filter(({ best }) => best > 0);
  const fewer = all.filter(({ column, count, before }) => count < before && !AS_ROWS.has(column));
  const held = evaluateCheck(
    {
      id: KINDS_ID,
      query: "how many objects of each kind the restored copy has",
      // Before the first passed test, this only shows what there is.
      expect:
        floors.length === 0
          ? "objects > 0"
          : floors.map((each) => `${each.column} >= ${floorOf(each)}`).join(" and "),
    },
    {
      kind: "rows",
      rows: [
        formatRow([
          ["objects", columns.reduce((sum, { count }) => sum + count, 0)],
          ...columns.map(({ column, count }) => [column, count] as const),
          ...(fewer.length === 0 ? [] : [["fewer", textOf(fewer, "before")] as const]),
        ]),
      ],
    },
    duration_ms,
  );
  if (held.result === "passed" || seen === null) return held;
  const lost = floors.filter((each) => each.count < floorOf(each));
  const error = `the restored copy has less than half of what passed tests of the last 30 days saw: ${textOf(lost, "best")}. ${nextStep(["."], seen.source)}`;
  return { ...held, observed: { error, ...held.observed } };
}

const floorOf = ({ best }: Counted): number => Math.ceil(best / 2);

/** `triggers 3 of 4, views 0 of 1` */
function textOf(lost: readonly Counted[], than: "best" | "before"): string {
  return lost.map((each) => `${each.column.replace("_", " ")} ${each.count} of ${each[than]}`).join(", ");
}
