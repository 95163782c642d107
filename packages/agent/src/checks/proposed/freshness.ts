import type { Candidate } from "./candidate.ts";
import { checkId } from "./check-id.ts";

/** How an engine writes a query about one column of times. `from` is a table, or a subquery. */
export interface TimeColumn {
  /** Without its schema, for the check's id. */
  readonly tableName: string;
  readonly table: string;
  readonly column: string;
  /** How much older a row may seem than it is, because nobody knows the times' zone. */
  readonly slack_s: number;
  newest(from: string): string;
  /** The table's rows, without any row; without a time; each a year older. */
  readonly none: string;
  readonly nulls: string;
  readonly older: string;
}

/** How often rows are written, by a source's times of the last 35 days. */
export interface ObservedTimes {
  readonly isFuture: boolean;
  /** Since the newest time. */
  readonly age_s: number;
  /** Different hours in which there is a time. */
  readonly hours: number;
  /** From the first of those hours to the last. */
  readonly span_s: number;
  /** The longest distance between two of them. */
  readonly gap_s: number;
}

/** Times are looked at so far back. */
export const OBSERVED_DAYS = 35;
/** So many columns of times are looked at. */
export const MAX_TIME_COLUMNS = 12;
/** Two clocks may differ by this much. */
const CLOCKS_S = 60;
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const MIN_HOURS = 3;
const MIN_SPAN_S = 2 * DAY_S;
/**
 * A time without a zone may be of any: from twelve hours behind UTC to fourteen before it. As if it
 * were of the zone that is furthest before UTC, it is never in the future.
 */
export const FURTHEST_ZONE_H = 14;
export const ZONES_S = 26 * HOUR_S;
const MAX_GAP_S = 15 * DAY_S;
/** From the newest row to a daily backup, and from there to its test. */
const ROOM_S = 2 * DAY_S;

/** Of a row of `age_s`, `hours`, `span_s` and `gap_s`. A table without times has none of them. */
export function observedTimes(row: readonly string[]): ObservedTimes {
  const [age_s = 0, hours = 0, span_s = 0, gap_s = 0] = row.map((cell) => Number(cell) || 0);
  return { isFuture: age_s < -CLOCKS_S, age_s, hours, span_s, gap_s };
}

/**
 * The newest time is no older than twice the longest distance that was observed, and two days.
 * Returns a text if the column is of no use for that.
 */
export function freshness(
  column: TimeColumn,
  { isFuture, age_s, hours, span_s, gap_s }: ObservedTimes,
): Candidate | string {
  if (isFuture) return "it has times in the future";
  if (hours < MIN_HOURS || span_s < MIN_SPAN_S)
    return "there are too few times to tell how often rows are written";
  if (gap_s > MAX_GAP_S) return "rows are written too rarely";
  const { tableName, table, slack_s, none, nulls, older } = column;
  const usual_s = 2 * Math.max(gap_s, HOUR_S) + slack_s;
  if (age_s > usual_s) return "rows are no longer written";
  const days = Math.ceil((usual_s + ROOM_S) / DAY_S);
  const name = `${table}.${column.column}`;
  return {
    id: checkId("fresh", tableName),
    query: column.newest(table),
    expect: `age(newest) < ${days}d`,
    ruined: [
      { how: `an empty ${table}`, query: column.newest(none) },
      { how: `${name} null in every row`, query: column.newest(nulls) },
      { how: `${name} a year older`, query: column.newest(older) },
    ],
  };
}
