import type { Floor, SeenRows } from "../passed-tests.ts";

const DAY_MS = 24 * 3600 * 1000;
/** Counts are compared with the best of this many days, unless there is a reason for more. */
export const FLOOR_DAYS = 30;
/**
 * Whether a table ever shrinks is judged over these days, and one that does not is compared with
 * their best. If they were fewer, several small losses would add up to one that nobody notices, and
 * after that the table would not even count as steady.
 */
export const STEADY_DAYS = 90;
/** A table is steady if this many tests over this many days saw it lose nothing significant. */
const STEADY_TESTS = 4;
const STEADY_SPAN_DAYS = 7;
/**
 * If somebody accepted that a table lost rows, this rule does not ask again for this long:
 * otherwise a table that varies at random would alarm several times a year.
 */
export const SHRINKS_DAYS = 365;
/** What a steady table may lose: this share of its rows, or this many if it is small. */
const SLACK_SHARE = 0.05;
const SLACK_ROWS = 5;
/** Somebody tidies up a tree, or deploys another version, more often than a table loses rows. */
const SLACK_SHARE_OF_FILES = 0.08;

/** RFC 3339, as receipts have it. `now` is in milliseconds since 1970. */
export function daysAgo(days: number, now: number): string {
  return new Date(now - days * DAY_MS).toISOString();
}

export interface FloorOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Somebody accepted a loss in the last `SHRINKS_DAYS`. */
  readonly hasShrunk: boolean;
}

/**
 * The least number of rows that a table must have: more than half of the best in 30 days, and of a
 * steady table 95 % of the best in 90. `seen` is what tests saw of it, oldest first. Null if
 * nothing is known that it must have.
 */
export function rowFloor(seen: readonly SeenRows[], options: FloorOptions): Floor | null {
  const isSteady = isSteadyTable(seen, options, SLACK_SHARE);
  const from = daysAgo(isSteady ? STEADY_DAYS : FLOOR_DAYS, options.now);
  const recent = seen.filter(({ test }, index) => test.madeAt >= from || index === seen.length - 1);
  const best = recent.reduce<SeenRows | null>(
    (most, each) => (most === null || each.rows >= most.rows ? each : most),
    null,
  );
  if (best === null || best.rows === 0) return null;
  const half = moreThanHalf(best.rows);
  const rows = isSteady ? Math.max(half, withoutSlack(best.rows, SLACK_SHARE)) : half;
  return { rows: BigInt(rows), best };
}

/**
 * The least number of files that a tree must have: half of the best in 30 days, and of a steady
 * tree 92 % of the best in 90. 0 if nothing is known.
 */
export function filesFloor(
  seen: readonly SeenRows[],
  { bestOf30Days, ...options }: FloorOptions & { readonly bestOf30Days: number },
): number {
  const half = Math.ceil(bestOf30Days / 2);
  return isSteadyTable(seen, options, SLACK_SHARE_OF_FILES)
    ? Math.max(half, withoutSlack(mostOf90Days(seen, options.now), SLACK_SHARE_OF_FILES))
    : half;
}

/** The most that tests saw in the days in which a table or tree must be steady. */
export function mostOf90Days(seen: readonly SeenRows[], now: number): number {
  const from = daysAgo(STEADY_DAYS, now);
  return Math.max(0, ...seen.flatMap(({ rows, test }) => (test.madeAt >= from ? [rows] : [])));
}

/** Whether, in 90 days, it never lost more than this share of the most it had. */
function isSteadyTable(
  seen: readonly SeenRows[],
  { now, hasShrunk }: FloorOptions,
  slackShare: number,
): boolean {
  if (hasShrunk) return false;
  const from = daysAgo(STEADY_DAYS, now);
  const looked = seen.filter(({ test }) => test.madeAt >= from);
  const [first, last] = [looked[0], looked.at(-1)];
  if (first === undefined || last === undefined) return false;
  if (new Set(looked.map(({ test }) => test.backupId)).size < STEADY_TESTS) return false;
  if (Date.parse(last.test.madeAt) - Date.parse(first.test.madeAt) < STEADY_SPAN_DAYS * DAY_MS) return false;
  let most = 0;
  for (const { rows } of looked) {
    if (most > 0 && rows < withoutSlack(most, slackShare)) return false;
    most = Math.max(most, rows);
  }
  return true;
}

/** The smallest count for which less than half is gone. */
export function moreThanHalf(rows: number): number {
  return Math.floor(rows / 2) + 1;
}

function withoutSlack(rows: number, share: number): number {
  return rows - Math.max(SLACK_ROWS, Math.floor(rows * share));
}
