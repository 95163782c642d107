/** Everything that the service does by the clock, for tests of all of it. */
import { abortAbandonedUploads, forgetEmptyUploads } from "../src/features/backups/abandoned-uploads.ts";
import { featureJobs } from "../src/features/jobs.ts";
import { deliverDueNotifications } from "../src/features/notifications/deliveries/deliver.ts";
import type { Database } from "../src/platform/database/schema.ts";
import { RATE_LIMITS } from "../src/platform/http/route/rate-limits.ts";
import { removeExpired } from "../src/platform/http/remove-expired.ts";
import type { Job } from "../src/platform/jobs/job.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { deliverDue } from "../src/platform/mail/deliver-mail.ts";
import type { TestService } from "./service.ts";

/** Nothing can be sent, and each organisation may have `quota` of each. */
export function allJobs(
  service: TestService,
  db: Database,
  { now, signal, quota }: { now: Date; signal: AbortSignal; quota: number },
): Pick<Job, "name" | "run">[] {
  const deps = {
    db,
    objects: service.objects,
    envelopes: service.envelopes,
    clock: () => now,
    logger: silentLogger,
    sealer: service.sealer,
    signer: service.signer,
    transport: { send: () => Promise.reject(new Error("no mail server")), close: () => undefined },
    publicUrl: service.url,
    webhooks: { networks: [], http: false },
    scheduleGrace_s: 3600,
    scheduleJitter_s: 0,
    retentionDelay_s: 7 * 86_400,
    heartbeatInterval_s: 60,
    silentAfterIntervals: 5,
    quarantineDays: 30,
    serviceBackup: null,
    archiveAfter_days: 90,
    quotas: { bytes: quota, objects: quota, agents: quota, requests: 1000, window_s: 60 },
    requireDeletable: () => Promise.resolve(),
  };
  const others: Pick<Job, "name" | "run">[] = [
    { name: "deliver", run: async () => void (await deliverDueNotifications(deps)) },
    { name: "mails", run: async () => void (await deliverDue(deps)) },
    {
      name: "uploads",
      run: async () => {
        await abortAbandonedUploads(deps, now);
        await forgetEmptyUploads(deps, now);
      },
    },
    {
      name: "housekeeping",
      run: async () =>
        void (await removeExpired(deps.db, { rateLimits: RATE_LIMITS, apiLogDays: 90 }, { signal })),
    },
  ];
  return [...featureJobs(deps), ...others];
}
