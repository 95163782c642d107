import type { CheckOutcome } from "@attestore/proof";
import { compareDeclared } from "../../content/compare-declared.ts";
import { recordOf } from "../../content/expected-content.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { ContentComparison } from "../../engine.ts";
import { listObjects } from "../content/list-objects.ts";
import { ONLY_A_NAME } from "./declared-sql.ts";
import { productOf, releaseOf } from "../connection/programs.ts";
import type { MariadbSession } from "../connection/session.ts";

const WORDS = {
  query:
    "what SHOW CREATE TABLE says of each table, and which views, triggers, routines and sequences there are",
  hint: "restore it by hand and compare what the dump program prints of both with --no-data --routines",
};
/** Of these the copy only has to have one of that name. */
const BY_NAME: ReadonlySet<string> = new Set(["view", "trigger", "procedure", "function", "sequence"]);
/** Of a package, the dump's text is not read. */
const LOOKED_FOR: ReadonlySet<string> = new Set([
  "table",
  "index",
  "constraint",
  "package",
  "package_body",
  ...BY_NAME,
]);
const NOT_LOOKED_AT = ["the definitions of views, triggers, routines and sequences", "all of the kind event"];

/**
 * Compares a copy with what another program's dump makes. Null if there is nothing to compare, or
 * no time.
 * @throws SessionEnded
 */
export async function compareDeclaredObjects(
  session: MariadbSession,
  { databases, version }: { readonly databases: readonly string[]; readonly version: string },
  declared: readonly DatabaseObject[],
  { metadata, key, budget_ms }: ContentComparison,
): Promise<CheckOutcome | null> {
  const started = performance.now();
  const listed = await listObjects(session, databases, { budget_ms, unreadable: "cannot be read" });
  if (listed === null) return null;
  const { server_version: said } = recordOf(metadata["original"]);
  const made = typeof said === "string" ? said : "";
  const isLike = releaseOf(made) === releaseOf(version) && productOf(made) === productOf(version);
  const present = listed.map((each) =>
    BY_NAME.has(each.kind) ? { ...each, definition: ONLY_A_NAME } : each,
  );
  const isLookedFor = ({ kind }: DatabaseObject): boolean => LOOKED_FOR.has(kind);
  return compareDeclared({ declared, restored: present, isCertain: () => isLike, isLookedFor }, key, {
    words: WORDS,
    duration_ms: performance.now() - started,
    notLookedAt: NOT_LOOKED_AT,
  });
}
