import type { CheckOutcome } from "@attestore/proof";
import { clip } from "../../../checks/index.ts";

/** A database of a set of which nothing was compared that its backup signed. */
export interface UncomparedDatabase {
  readonly name: string;
  /** How many of its tables have a digest; 0 if some were compared, or none has one. */
  readonly tables: number;
  /** Whether its objects have digests, and none was compared. */
  readonly lacksObjects: boolean;
}

const MAX_NAMES = 200;

/**
 * Names these databases in the checks of others. A check of their own, which compared nothing,
 * would say that they hold; without any, nobody would learn of them.
 */
export function withUncompared(
  outcomes: readonly CheckOutcome[],
  databases: readonly UncomparedDatabase[],
): readonly CheckOutcome[] {
  const first = (what: string): number => outcomes.findIndex(({ id }) => id.startsWith(`inferred:${what}:`));
  const [content, objects] = [first("content"), first("objects")];
  const rows = databases.filter(({ tables }) => tables > 0);
  const others = databases.filter(({ lacksObjects }) => lacksObjects);
  return outcomes.map((outcome, at) => {
    if (at === content)
      return named(outcome, ["not_compared", "not_compared_tables"], {
        names: rows.map(({ name }) => `the database ${name} (database_not_compared)`),
        count: rows.reduce((sum, { tables }) => sum + tables, 0),
      });
    if (at === objects)
      return named(outcome, ["not_looked_at", "not_looked_at_objects"], {
        names: others.map(({ name }) => `objects of the database ${name}`),
        count: others.length,
      });
    return outcome;
  });
}

function named(
  outcome: CheckOutcome,
  [countField, namesField]: readonly [count: string, names: string],
  { names, count }: { readonly names: readonly string[]; readonly count: number },
): CheckOutcome {
  if (count === 0) return outcome;
  const { [countField]: counted, [namesField]: listed, ...observed } = outcome.observed;
  const all = [...names, ...(typeof listed === "string" ? [listed] : [])].join(", ");
  return {
    ...outcome,
    observed: {
      ...observed,
      [countField]: count + (typeof counted === "number" ? counted : 0),
      [namesField]: clip(all, MAX_NAMES),
    },
  };
}
