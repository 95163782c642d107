import type { Job } from "../platform/jobs/job.ts";
import { notificationJobs } from "./notifications/jobs.ts";
import { retentionJobs } from "./retention/jobs.ts";
import type { RetentionDeps } from "./retention/settings.ts";
import { scheduleJobs } from "./schedules/jobs.ts";
import type { SchedulesDeps } from "./schedules/settings.ts";

export type JobDeps = SchedulesDeps & RetentionDeps;

/** Everything that the service does by the clock. */
export function featureJobs(deps: JobDeps): Job[] {
  return [...scheduleJobs(deps), ...retentionJobs(deps), ...notificationJobs(deps)];
}
