import { setTimeout as delay } from "node:timers/promises";
import { startAbandonedUploads } from "../features/backups/abandoned-uploads.ts";
import type { Installation } from "../features/installation/installation.ts";
import { watchInstallation } from "../features/installation/watch.ts";
import { measureCheckpoints } from "../features/metrics/service-metrics.ts";
import type { DeliveringDeps } from "../features/notifications/channels/deps.ts";
import { deliverNotifications } from "../features/notifications/deliveries/deliver.ts";
import type { ArchivedEnvelopes } from "../log/archive/archived-envelopes.ts";
import { startCheckpointPublisher } from "../log/checkpoints/checkpoint-publisher.ts";
import type { CheckpointSigner } from "../log/checkpoints/checkpoint-signer.ts";
import { MAX_CLOCKS_APART_MS } from "../log/clock-off.ts";
import { endHold } from "../log/recovery/held-logs.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config/read-config.ts";
import type { DatabaseAccess } from "../platform/database/database.ts";
import { startHousekeeping } from "../platform/http/housekeeping.ts";
import type { RateLimitTable } from "../platform/http/route/rate-limits.ts";
import type { Sealer } from "../platform/http/sealer.ts";
import type { Job } from "../platform/jobs/job.ts";
import { runJobs } from "../platform/jobs/run-jobs.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { deliverMail } from "../platform/mail/deliver-mail.ts";
import { openMailTransport } from "../platform/mail/open-transport.ts";
import type { ObjectStore } from "../platform/objects/object-store.ts";
import type { Cleanup } from "./cleanup.ts";
import type { OpenSequencer } from "./open-sequencer.ts";

const MAIL_WITHIN_MS = 5000;
/** After a restore, for agents to say which heads they hold. */
const HOLD_HEARTBEATS = 3;

export interface BackgroundParts {
  config: Config;
  log: Logger;
  byClock: DatabaseAccess;
  sealer: Sealer;
  signer: CheckpointSigner;
  objects: ObjectStore;
  envelopes: ArchivedEnvelopes;
  installation: Installation;
  jobs: readonly Job[];
  rateLimits: RateLimitTable;
  sequencer: OpenSequencer;
  webhooks: DeliveringDeps["webhooks"];
}

/**
 * The jobs that the service does by itself, in one of its workers. Each is also safe beside another
 * replica's.
 */
export function startBackground(
  parts: BackgroundParts,
  { signal, timeToStop_ms }: { signal: AbortSignal; timeToStop_ms: () => number },
  cleanup: Cleanup,
): void {
  const { config, byClock, sealer, signer, envelopes, sequencer, log: logger } = parts;
  const db = byClock.database;
  void endHold({
    pool: byClock.pool,
    after_s: HOLD_HEARTBEATS * config.heartbeatInterval_s,
    logger,
    signal,
  });
  startCheckpointPublisher({
    pool: sequencer.pool,
    signer,
    logger,
    onDone: measureCheckpoints(sequencer.metrics),
    signal,
  });
  startAbandonedUploads({ db, objects: parts.objects, logger, signal });
  startHousekeeping({
    db,
    lifetimes: { rateLimits: parts.rateLimits, apiLogDays: config.apiLogDays },
    logger,
    signal,
  });

  const transport = openMailTransport(config, (text) => void process.stderr.write(text));
  const { publicUrl } = config;
  const sending = Promise.all([
    deliverMail({ db, sealer, transport, logger }, signal),
    deliverNotifications(
      { db, sealer, signer, envelopes, logger, transport, publicUrl, webhooks: parts.webhooks },
      signal,
    ),
  ]);
  cleanup.addLimited(async () => {
    timeToStop_ms();
    // The next process sends again what is cut off here.
    await Promise.race([sending, delay(MAIL_WITHIN_MS, undefined, { ref: false })]);
    transport.close();
  });

  const working = Promise.all([
    runJobs({
      db,
      clock: systemClock,
      clocksApart_s: MAX_CLOCKS_APART_MS / 1000,
      logger,
      signal,
      jobs: parts.jobs,
    }),
    watchInstallation(parts.installation, signal),
  ]);
  cleanup.addLimited(async () => {
    await Promise.race([working, delay(timeToStop_ms(), undefined, { ref: false })]);
  });
}
