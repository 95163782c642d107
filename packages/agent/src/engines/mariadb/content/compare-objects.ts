import type { CheckOutcome } from "@attestore/proof";
import { compareObjects } from "../../content/compare-objects.ts";
import { preparedText } from "../../content/prepared-transactions.ts";
import type { ContentComparison } from "../../engine.ts";
import { releaseOf } from "../connection/programs.ts";
import type { MariadbSession } from "../connection/session.ts";
import { besideText } from "./beside-databases.ts";
import { expectedOfMariadb } from "./expected-objects.ts";
import { hiddenText } from "./hidden-kinds.ts";
import { type EarlierList, listObjects } from "./list-objects.ts";
import { NOT_LOOKED_AT } from "./not-looked-at.ts";

const WORDS = {
  query: "what SHOW CREATE says of each object, and the next value of each counter",
  hint: "compare what mariadb-dump or mysqldump prints of both with --no-data --routines --events",
};

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
  const signed = expectedOfMariadb(metadata);
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
    const known = preparedText(kind) ?? besideText(kind) ?? hiddenText(kind, metadata["engine_version"]);
    return known ?? `all of the kind ${what}`;
  });
  const compared = async (as?: EarlierList): Promise<CheckOutcome | null> => {
    const left_ms = budget_ms - (performance.now() - started);
    const limits = { budget_ms: left_ms, unreadable: "cannot be read", ...(as === undefined ? {} : { as }) };
    const found = await listObjects(session, databases, limits);
    const duration_ms = performance.now() - started;
    const context = { of: null, duration_ms, words: WORDS, notLookedAt };
    if (found === null) return null;
    const known = found.filter(({ kind }) => !whole.has(kind));
    return compareObjects(known, expected, key, context);
  };
  if (signed.version !== 1) return compared();
  const first = await compared("earlier");
  if (first?.result !== "failed") return first;
  const again = await compared("with_age");
  return again?.result === "passed" ? again : first;
}
