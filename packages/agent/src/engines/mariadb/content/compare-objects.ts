import type { CheckOutcome } from "@attestore/proof";
import { compareObjects, expectedObjects } from "../../content/compare-objects.ts";
import type { ContentComparison } from "../../engine.ts";
import { releaseOf } from "../programs.ts";
import type { MariadbSession } from "../session.ts";
import { listObjects } from "./list-objects.ts";

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
  const expected = expectedObjects(metadata);
  if (expected === null || releaseOf(metadata["engine_version"]) !== releaseOf(version)) return null;
  const started = performance.now();
  const found = await listObjects(session, databases, { budget_ms, unreadable: "cannot be read" });
  if (found === null) return null;
  const duration_ms = performance.now() - started;
  return compareObjects(found, expected, key, { of: null, duration_ms, words: WORDS });
}
