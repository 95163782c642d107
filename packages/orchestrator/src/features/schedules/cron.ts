import { Cron } from "croner";
import { isRepeated, isShownAgain, nextGap, wallClock } from "./time-zone.ts";

const STRICT = { mode: "5-part", paused: true } as const;
const NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun";
const FIELD = new RegExp(`^(?:[0-9*,/-]|${NAMES})+$`, "i");

/** Whether these are five cron fields that name some time. */
export function isCron(pattern: string): boolean {
  const fields = pattern.split(" ");
  // croner accepts more than these: nicknames, the last day, the nth weekday.
  if (fields.length !== 5 || !fields.every((field) => FIELD.test(field))) return false;
  try {
    return cron(pattern, "UTC").nextRun(new Date(0)) !== null;
  } catch {
    // Whatever croner rejects.
    return false;
  }
}

/**
 * The first time after `after` that five cron fields name in a zone; null if they never name one
 * again.
 * A time that a clock change skips counts as the moment of the change. A time that comes twice
 * counts once, the first time; but an hourly schedule (`*`) also runs in the repeated hour.
 * @throws what isCron and isTimeZone would have refused
 */
export function nextTime(pattern: string, zone: string, after: Date): Date | null {
  const schedule = cron(pattern, zone);
  let next = schedule.nextRun(after);
  // croner repeats times in the repeated hour if the fields name two of them.
  if (pattern.split(" ")[1] !== "*")
    while (next !== null && isRepeated(zone, next)) next = schedule.nextRun(next);
  // croner moves a skipped time, but not if the fields name two in the same hour.
  const gap = next === null ? null : nextGap(zone, after, next);
  if (gap === null || gap.at <= after) return next;
  const leftOut = cron(pattern, "UTC").nextRun(new Date(gap.from.getTime() - 1));
  return leftOut !== null && leftOut < gap.to ? gap.at : next;
}

/**
 * What a clock change does to a time that nextTime returned: `shifted` replaces a skipped time,
 * `first_of_two` is a time that comes twice.
 */
export function clockChangeAt(pattern: string, zone: string, at: Date): "shifted" | "first_of_two" | null {
  // An hourly schedule neither misses an hour nor runs twice in one.
  if (pattern.split(" ")[1] === "*") return null;
  const shown = wallClock(zone, at);
  const named = cron(pattern, "UTC").nextRun(new Date(shown.getTime() - 1));
  if (named?.getTime() !== shown.getTime()) return "shifted";
  return isShownAgain(zone, at) ? "first_of_two" : null;
}

function cron(pattern: string, zone: string): Cron {
  return new Cron(pattern, { ...STRICT, timezone: zone });
}
