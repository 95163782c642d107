import type { CheckOutcome } from "@attestore/proof";
import { compareObjects, expectedObjects } from "../../content/compare-objects.ts";
import { preparedText } from "../../content/prepared-transactions.ts";
import type { ContentComparison } from "../../engine.ts";
import { releaseOf } from "../programs.ts";
import type { MariadbSession } from "../session.ts";
import { hiddenText } from "./hidden-kinds.ts";
import { EVENT_THAT_ENDS, listObjects, REFERENCE_SYSTEM, STATUS_OF_EVENT } from "./list-objects.ts";

const WORDS = {
  query: "what SHOW CREATE says of each object, and the next value of each counter",
  hint: "compare what mariadb-dump or mysqldump prints of both with --no-data --routines --events",
};

/** Of these a backup only has names: time changes them, or no dump has them. */
const NOT_LOOKED_AT: readonly string[] = [EVENT_THAT_ENDS, REFERENCE_SYSTEM, STATUS_OF_EVENT];

/**
 * Lists the copy as the source was listed. Null if there is nothing to compare with, on another
 * release, or without time.
 * @throws SessionEnded
 */
export async function compareListed(
  session: MariadbSession,
  { databases, version }: { readonly databases: readonly string[]; readonly version: string },
  { metadata, key, budget_ms }: ContentComparison,
): Promise<CheckOutcome | null> {
  const signed = expectedObjects(metadata);
  if (signed === null || releaseOf(metadata["engine_version"]) !== releaseOf(version)) return null;
  const started = performance.now();
  const isLookedAt = ([kind, name]: readonly [string, string | null]): boolean =>
    name !== null && !NOT_LOOKED_AT.includes(kind);
  const expected = { ...signed, leftOut: signed.leftOut.filter(isLookedAt) };
  const rest = signed.leftOut.filter((each) => !isLookedAt(each));
  const whole = new Set(rest.flatMap(([kind, name]) => (name === null ? [kind] : [])));
  const notLookedAt = rest.map(([kind, name]) => {
    const what = kind.replaceAll("_", " ");
    if (name !== null) return `${what} ${name}`;
    const known = preparedText(kind) ?? hiddenText(kind, metadata["engine_version"]);
    return known ?? `all of the kind ${what}`;
  });
  const compared = async (withAge: boolean): Promise<CheckOutcome | null> => {
    const left_ms = budget_ms - (performance.now() - started);
    const limits = { budget_ms: left_ms, unreadable: "cannot be read", withAge };
    const found = await listObjects(session, databases, limits);
    const duration_ms = performance.now() - started;
    const context = { of: null, duration_ms, words: WORDS, notLookedAt };
    if (found === null) return null;
    const known = found.filter(({ kind }) => !whole.has(kind));
    return compareObjects(known, expected, key, context);
  };
  const first = await compared(false);
  if (first?.result !== "failed") return first;
  const again = await compared(true);
  return again?.result === "passed" ? again : first;
}
