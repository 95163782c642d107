import type { RestoreTest } from "../queries.ts";

export type Phases = NonNullable<RestoreTest["phases"]>;
export type MeasuredTest = RestoreTest & { phases: Phases };
export const PHASES = ["download", "decrypt", "restore", "checks"] as const;

/** Time until the data is back; checks run after that. */
export function dataBack_ms({ download_ms, decrypt_ms, restore_ms }: Phases): number {
  return download_ms + decrypt_ms + restore_ms;
}

/** The chart's height: the longest test, or the objective if it is not too much longer. */
export function chartTop_ms(tests: readonly MeasuredTest[], rto_s: number | null): number {
  const longest = Math.max(1, ...tests.map(({ phases }) => dataBack_ms(phases)));
  // Below an objective of hours, restores of seconds would be too low to see.
  return rto_s !== null && rto_s * 1000 <= longest * 4 ? Math.max(longest, rto_s * 1000) : longest;
}

/** The checks that differ from the previous test, by id. */
export function checkChanges(
  last: RestoreTest,
  before: RestoreTest | undefined,
): { changed: ReadonlySet<string>; added: ReadonlySet<string>; gone: string[] } {
  if (before === undefined) return { changed: new Set(), added: new Set(), gone: [] };
  const definitions = new Map(before.checks.map(({ id, definition_sha256 }) => [id, definition_sha256]));
  const ids = new Set(last.checks.map(({ id }) => id));
  return {
    changed: new Set(
      last.checks
        .filter(
          ({ id, definition_sha256 }) => definitions.has(id) && definitions.get(id) !== definition_sha256,
        )
        .map(({ id }) => id),
    ),
    added: new Set(last.checks.filter(({ id }) => !definitions.has(id)).map(({ id }) => id)),
    gone: [...definitions.keys()].filter((id) => !ids.has(id)),
  };
}
