import { Cron } from "croner";
import { isRepeated, isShownAgain, nextGap, wallClock } from "./time-zone.ts";

const STRICT = { mode: "5-part", paused: true } as const;
const NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun";
const FIELD = new RegExp(`^(?:[0-9*,/-]|${NAMES})+$`, "i");

/** Whether these are five fields that name some time. */
export function isCron(pattern: string): boolean {
  const fields = pattern.split(" ");
  // croner knows more than these: nicknames, the last day, the nth weekday.
  if (fields.length !== 5 || !fields.every((field) => FIELD.test(field))) return false;
  try {
    return cron(pattern, "UTC").nextRun(new Date(0)) !== null;
  } catch {
    // Whatever it dislikes about somebody's fields.
    return false;
  }
}

/**
 * The first time after `after` that five cron fields name in a zone; null where they never name one again.
 *
 * A time that a change of the clocks leaves out counts as the moment of the change. One that comes twice counts once, the first
 * time; but a schedule of every hour (`*`) goes on through the hour that is repeated.
 *
 * @throws what isCron and isTimeZone would have refused
 */
export function nextTime(pattern: string, zone: string, after: Date): Date | null {
  const schedule = cron(pattern, zone);
  let next = schedule.nextRun(after);
  // croner repeats those of the hour that is repeated where the fields name two of them.
  if (pattern.split(" ")[1] !== "*")
    while (next !== null && isRepeated(zone, next)) next = schedule.nextRun(next);
  // croner moves a time that is left out, but not where the fields name two of them in the same
  // hour.
  const gap = next === null ? null : nextGap(zone, after, next);
  if (gap === null || gap.at <= after) return next;
  const leftOut = cron(pattern, "UTC").nextRun(new Date(gap.from.getTime() - 1));
  return leftOut !== null && leftOut < gap.to ? gap.at : next;
}

/**
 * What a change of the clocks does to a time that nextTime gave: `shifted` stands for one that is
 * left out, `first_of_two` for one that comes twice.
 */
export function clockChangeAt(pattern: string, zone: string, at: Date): "shifted" | "first_of_two" | null {
  // One of every hour neither misses an hour nor runs twice in one.
  if (pattern.split(" ")[1] === "*") return null;
  const shown = wallClock(zone, at);
  const named = cron(pattern, "UTC").nextRun(new Date(shown.getTime() - 1));
  if (named?.getTime() !== shown.getTime()) return "shifted";
  return isShownAgain(zone, at) ? "first_of_two" : null;
}

function cron(pattern: string, zone: string): Cron {
  return new Cron(pattern, { ...STRICT, timezone: zone });
}
