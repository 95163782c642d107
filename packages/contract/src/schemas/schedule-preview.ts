import { Type, type Static } from "typebox";
import { OrNull, strict, Timestamp } from "./scalars.ts";

/**
 * A scheduled time. `shifted`: a clock change skips that time, so it counts as the moment of the
 * change. `first_of_two`: clocks show that time twice that day, and the first counts.
 */
export const ScheduledTime = Type.Object(
  {
    at: Timestamp,
    clock_change: OrNull(Type.Union([Type.Literal("shifted"), Type.Literal("first_of_two")])),
  },
  strict,
);
export type ScheduledTime = Static<typeof ScheduledTime>;

const ScheduledTimes = Type.Object(
  {
    /** The next five times. */
    next: Type.Array(ScheduledTime),
    /** The times in the coming year that a clock change affects. */
    at_clock_changes: Type.Array(ScheduledTime),
  },
  strict,
);

/**
 * 200 of `GET …/schedule-preview`: the times of the next requests; null for a kind without a cron
 * expression.
 */
export const SchedulePreview = Type.Object(
  { timezone: Type.String(), backup: OrNull(ScheduledTimes), restore_test: OrNull(ScheduledTimes) },
  strict,
);
export type SchedulePreview = Static<typeof SchedulePreview>;
