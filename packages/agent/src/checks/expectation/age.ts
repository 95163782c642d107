import { parseTimestamp } from "../values/timestamp.ts";
import type { Value } from "../values/row.ts";

/** How far two clocks may differ. Beyond that, a moment in the future is a mistake. */
const SKEW_US = 300_000_000n;

/**
 * The age of a moment, in seconds with six digits: of a text with time and zone, or of a number of
 * seconds since 1970. `now` is when the check runs, not when the backup was made, so the rows of an
 * older backup are older. A moment in the future has no age: a row of the year 2999 would be fresh
 * for ever.
 */
export function ageOf(value: Value, now: Date): { readonly seconds: string } | { readonly problem: string } {
  const at_us = momentOf(value);
  if (typeof at_us === "string") return { problem: at_us };
  const age_us = BigInt(now.getTime()) * 1000n - at_us;
  if (age_us < -SKEW_US) return { problem: "is in the future" };
  return { seconds: `${age_us}e-6` };
}

/** The columns' engine is not known here. */
const NO_ZONE =
  "has no time zone: add one in the query, such as `placed_at at time zone 'UTC'` in PostgreSQL, " +
  "`strftime('%Y-%m-%dT%H:%M:%SZ', placed_at)` in SQLite, or `date_format(placed_at, '%Y-%m-%dT%H:%i:%sZ')` in MariaDB and MySQL";

function momentOf(value: Value): bigint | string {
  if (value.kind === "number") return momentOfNumber(value.text);
  if (value.kind !== "text") return "is no time";
  const moment = parseTimestamp(value.value);
  if ("at_us" in moment) return moment.at_us;
  return moment.problem === "no_zone" ? NO_ZONE : "is not a time such as 2026-01-31T12:00:00Z";
}

function momentOfNumber(text: string): bigint | string {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || Math.abs(seconds) > 1e14) return "is not a number of seconds since 1970";
  return BigInt(Math.round(seconds * 1e3)) * 1000n;
}
