import { RunError } from "../../errors/run-error.ts";
import { formatMaxAge } from "../../config/engines/max-age.ts";

/** How far two clocks may differ. */
export const SKEW_S = 300;

/**
 * Requires that the newest backup of another program is not too old. One from the future would stay
 * the newest, and fresh, for ever.
 * @throws RunError `source_missing`
 */
export function requireFresh(
  what: string,
  at_ms: number,
  { max_age_s, now }: { readonly max_age_s: number | null; readonly now: number },
): void {
  if (max_age_s === null) return;
  const age_s = Math.round((now - at_ms) / 1000);
  if (age_s < -SKEW_S)
    throw new RunError(
      "source_missing",
      `the newest ${what} is dated ${-age_s} s in the future, so its age is unknown: check the clocks`,
    );
  if (age_s <= max_age_s) return;
  throw new RunError(
    "source_missing",
    `the newest ${what} is from ${new Date(at_ms).toISOString()}, but may be at most ${formatMaxAge(max_age_s)} old: ` +
      "find out why there are no new ones. The limit is the source's max_age_s",
  );
}
