import type { ArchivedEnvelopes } from "../log/archive/archived-envelopes.ts";
import type { Job } from "../platform/jobs/job.ts";
import type { RequireDeletable } from "./installation/guarded-store.ts";
import { archiveJob } from "./receipts/archive-job.ts";
import { notificationJobs } from "./notifications/jobs.ts";
import { quotaJob } from "./quotas/warn-of-quotas.ts";
import type { QuotaDefaults } from "./quotas/settings.ts";
import { retentionJobs } from "./retention/jobs.ts";
import type { RetentionDeps } from "./retention/deps.ts";
import { type ScheduleOptions, serviceBackupJob } from "./service-backup/schedule.ts";
import { scheduleJobs } from "./schedules/jobs.ts";
import type { SchedulesDeps } from "./schedules/settings.ts";

export type JobDeps = SchedulesDeps &
  RetentionDeps & { quotas: QuotaDefaults } & { requireDeletable: RequireDeletable } & {
    /** Null if the service does not back itself up. */
    serviceBackup: ScheduleOptions | null;
    envelopes: ArchivedEnvelopes;
    /** Null if the envelopes of receipts stay in the database. */
    archiveAfter_days: number | null;
  };

/** Everything that the service does by the clock. */
export function featureJobs(deps: JobDeps): Job[] {
  return [
    ...scheduleJobs(deps),
    ...retentionJobs(deps).map((job) => onlyIfDeletable(job, deps)),
    quotaJob(deps),
    ...notificationJobs(deps),
    ...(deps.serviceBackup === null ? [] : [serviceBackupJob(deps.serviceBackup)]),
    ...(deps.archiveAfter_days === null
      ? []
      : [
          onlyIfDeletable(
            archiveJob({ ...deps, files: deps.objects.files, after_days: deps.archiveAfter_days }),
            deps,
          ),
        ]),
  ];
}

/**
 * Retention rests while the objects may be another database's: expiring a backup is the first half
 * of deleting it, and an envelope must not go where its own service does not look.
 */
function onlyIfDeletable(job: Job, { requireDeletable }: JobDeps): Job {
  return {
    ...job,
    run: async (context) => {
      await requireDeletable();
      await job.run(context);
    },
  };
}
