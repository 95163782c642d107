import type { CommandKind, Schedule, ScheduledTime, SchedulePreview } from "@attestore/contract";
import { clockChangeAt, nextTime } from "./cron.ts";
import { cronOf } from "./next-times.ts";
import { clockChanges } from "./time-zone.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const SHOWN = 5;
/** Clocks change by two hours at most; an hour more on both sides. */
const AROUND_MS = 3 * HOUR_MS;
/** Schedules that name a time every few minutes are not searched minute by minute. */
const MAX_LOOKED_AT = 40;

/** When a schedule would ask for what, after `now`. */
export function previewSchedule(schedule: Schedule, now: Date): SchedulePreview {
  const { timezone } = schedule;
  const of = (kind: CommandKind): SchedulePreview["backup"] => {
    const pattern = cronOf(schedule, kind);
    if (pattern === null) return null;
    return {
      next: timesOf(pattern, timezone, now, SHOWN),
      at_clock_changes: clockChanges(timezone, now, new Date(now.getTime() + YEAR_MS))
        .flatMap(({ at }) => timesAround(pattern, timezone, at, now))
        .filter(({ clock_change }) => clock_change !== null)
        .slice(0, SHOWN),
    };
  };
  return { timezone, backup: of("backup"), restore_test: of("restore_test") };
}

/** At most `count` of them, up to `end`. */
function timesOf(
  pattern: string,
  zone: string,
  after: Date,
  count: number,
  end = Number.POSITIVE_INFINITY,
): ScheduledTime[] {
  const times: ScheduledTime[] = [];
  let at = nextTime(pattern, zone, after);
  while (at !== null && at.getTime() <= end && times.length < count) {
    times.push({ at: at.toISOString(), clock_change: clockChangeAt(pattern, zone, at) });
    if (times.length < count) at = nextTime(pattern, zone, at);
  }
  return times;
}

function timesAround(pattern: string, zone: string, change: Date, now: Date): ScheduledTime[] {
  const [from, end] = [change.getTime() - AROUND_MS, change.getTime() + AROUND_MS];
  return timesOf(pattern, zone, new Date(Math.max(from, now.getTime())), MAX_LOOKED_AT, end);
}
