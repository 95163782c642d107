import type { CommandKind, ConfigureSourceRequest, Schedule } from "@attestore/contract";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { isCron, nextTime } from "./cron.ts";
import { isTimeZone } from "./time-zone.ts";

const UTC = "UTC";

export function cronOf(schedule: Schedule | null, kind: CommandKind): string | null {
  if (schedule === null) return null;
  return kind === "backup" ? schedule.backup_cron : schedule.restore_test_cron;
}

export function timeZoneOf(schedule: Schedule | null): string {
  return schedule?.timezone ?? UTC;
}

/** When the next one is due after that moment; null if the schedule has none. */
export function nextOf(schedule: Schedule | null, kind: CommandKind, after: Date): Date | null {
  const pattern = cronOf(schedule, kind);
  return pattern === null ? null : nextTime(pattern, timeZoneOf(schedule), after);
}

/**
 * Builds a stored schedule from a request. Throws `invalid_request` for cron fields that name no
 * time, and for unknown time zones.
 */
export function readSchedule(given: NonNullable<ConfigureSourceRequest["schedule"]>): Schedule {
  const { backup_cron = null, restore_test_cron = null, timezone = UTC } = given;
  const issues = [];
  for (const [name, pattern] of Object.entries({ backup_cron, restore_test_cron }))
    if (pattern !== null && !isCron(pattern))
      issues.push({
        path: `/schedule/${name}`,
        message: 'must be five cron fields that match some time, such as "30 2 * * *"',
      });
  if (!isTimeZone(timezone))
    issues.push({
      path: "/schedule/timezone",
      message: "must be a time zone of the IANA database, such as Europe/Berlin",
    });
  if (issues.length > 0) throw invalidRequest("The schedule is not valid.", issues);
  return { backup_cron, restore_test_cron, timezone };
}
