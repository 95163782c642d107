import { plural } from "@attestore/proof";
import type { SourceFields } from "../source-fields.ts";

const DAY_S = 86_400;
/** A weekly one may be late by a day. */
const BUILT_IN_S = 8 * DAY_S;
const LONGEST_S = 10 * 366 * DAY_S;

/**
 * How old somebody else's newest backup may be, in seconds; null for any age, which has to be
 * configured: the program that makes them may have stopped months ago, and the last one still
 * restores.
 */
export function maxAgeOf(fields: SourceFields): number | null {
  if (fields.isText("max_age_s", "any")) return null;
  const what = "any, or a whole number of seconds";
  return fields.count("max_age_s", BUILT_IN_S, { min: 1, max: LONGEST_S, what });
}

/** For people: `8 days`, `25 hours`, `90 s`. */
export function formatMaxAge(max_age_s: number): string {
  if (max_age_s % DAY_S === 0 && max_age_s > DAY_S) return plural(max_age_s / DAY_S, "day");
  if (max_age_s % 3600 === 0 && max_age_s > 3600) return plural(max_age_s / 3600, "hour");
  return `${max_age_s} s`;
}
