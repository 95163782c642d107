import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { Logger } from "../../platform/logging/logger.ts";

export interface SchedulesDeps {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** Seconds after its scheduled time by which a backup or restore test must be done. */
  scheduleGrace_s: number;
  /**
   * Up to how many seconds after its time a schedule is queued, so that those of the same time are
   * not all queued at once.
   */
  scheduleJitter_s: number;
  heartbeatInterval_s: number;
  /** How many missing heartbeats make an agent silent. */
  silentAfterIntervals: number;
}
