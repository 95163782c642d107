import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import { dashboardPages } from "../features/dashboard/page-routes.ts";
import { BUILT_HERE } from "../features/downloads/download-routes.ts";
import { guardDeletions } from "../features/installation/guarded-store.ts";
import { featureJobs, type JobDeps } from "../features/jobs.ts";
import { measurePools, measureSurroundings } from "../features/metrics/measure-surroundings.ts";
import { createMetrics, type ServiceMetrics } from "../features/metrics/service-metrics.ts";
import { readWebhookCa } from "../features/notifications/channels/webhook-ca.ts";
import { quotaDefaults } from "../features/quotas/settings.ts";
import { measureServiceBackups } from "../features/service-backup/backup-gauges.ts";
import { systemClock } from "../platform/clock.ts";
import { ArchivedEnvelopes } from "../log/archive/archived-envelopes.ts";
import type { Config } from "../platform/config/read-config.ts";
import { keepServedAddress } from "../platform/config/served-address.ts";
import { warnOfPrivileges } from "../platform/database/service-privileges.ts";
import type { Job } from "../platform/jobs/job.ts";
import { readIdentity, requireIdentity } from "../platform/keys/service-identity.ts";
import { openServiceKeys } from "../platform/keys/service-keys.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { Cleanup } from "./cleanup.ts";
import { announce, prepareDataDirectory } from "./first-worker.ts";
import { drain, listen, sendElsewhere } from "./listen.ts";
import { openPools } from "./open-databases.ts";
import { openInstallation } from "./open-installation.ts";
import { openObjects } from "./open-objects.ts";
import { openSequencer } from "./open-sequencer.ts";
import { rateLimitsOf } from "./configured-rate-limits.ts";
import { ServerCertificate } from "./server-certificate.ts";
import { ownMetrics, serviceApp } from "./service-app.ts";
import { startBackground } from "./start-background.ts";
import { watchOpenFiles } from "./watch-open-files.ts";
import { WorkerEnd } from "./worker-end.ts";
import type { WorkerParts } from "./worker-parts.ts";

export interface Worker {
  /**
   * Finishes the accepted requests, then releases everything.
   * @param isReplaced whether other workers continue and clients should go to those; then running
   * requests have more time
   */
  stop(isReplaced?: boolean): Promise<void>;
  /** Its metrics, in Prometheus' text format. */
  measure(): Promise<string[]>;
}

/**
 * Starts what answers requests with these settings. Resolves when it accepts them; if the start
 * fails, whatever was started is stopped again.
 */
export async function startWorker(config: Config, log: Logger, parts: WorkerParts): Promise<Worker> {
  const cleanup = new Cleanup(log);
  const end = new WorkerEnd(config.shutdown_s);
  try {
    const { metrics } = await start(config, log, { parts, cleanup, end });
    return {
      stop: (isReplaced = false) => {
        end.decide({ isReplaced });
        return cleanup.run();
      },
      measure: () => ownMetrics(metrics),
    };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

interface Starting {
  parts: WorkerParts;
  cleanup: Cleanup;
  end: WorkerEnd;
}

async function start(
  config: Config,
  log: Logger,
  { parts, cleanup, end }: Starting,
): Promise<{ metrics: ServiceMetrics }> {
  const { leads, isFirst, numbered } = parts;
  const databases = openPools(
    parts.connection,
    { config, log, runsJobs: leads, signed: parts.signed },
    cleanup,
  );
  const { connection, requests, jobs: byClock } = databases;
  const { database: db, pool } = requests;
  if (isFirst) await warnOfPrivileges(pool, log);

  const keys = await openServiceKeys(config, (await readIdentity(pool)) === null ? "create" : "refuse");
  cleanup.add("the keys", () => keys.close());
  const identity = await requireIdentity(byClock.pool, keys, config);
  const certificate = await ServerCertificate.load(config, keys.authority, log);
  if (isFirst) await prepareDataDirectory(config, databases, certificate, log);
  const { objects: store, routes: objectRoutes } = await openObjects(config, keys.objectUrls, parts, log);

  const { installation, signer, lookBack } = await openInstallation(
    { keys, logHost: identity.log_host, objects: store, worker: parts, log },
    databases,
    cleanup,
  );
  const requireDeletable = (): Promise<void> => installation.requireDeletable();
  const objects = guardDeletions(store, requireDeletable);
  const envelopes = new ArchivedEnvelopes(objects.files);
  const metrics = createMetrics(numbered?.worker ?? null);
  const sequencer = openSequencer(connection, signer, log, metrics);
  const openFiles = watchOpenFiles(log, metrics.registry);
  cleanup.add("the watch of open files", async () => openFiles.stop());
  cleanup.add("the log's connections", () => sequencer.pool.end());
  cleanup.add("what waits for the log", () => sequencer.sequencer.close());

  const { sealer } = keys.sealing;
  const webhookReach = { networks: config.webhookNetworks, http: config.webhookHttp };
  const rateLimits = rateLimitsOf(config);
  const jobs = jobsOf(config, log, { requireDeletable, db: byClock.database, objects, envelopes });
  const app = serviceApp({
    ...settingsOf(config),
    db,
    pool,
    connection,
    jobsDb: byClock.database,
    objects,
    envelopes,
    places: parts.places,
    log: sequencer,
    signer,
    sealer,
    logger: log,
    clock: systemClock,
    tls: certificate.options,
    shutdown: end.shutdown,
    serviceEnds: end.serviceEnds,
    workers: numbered?.of ?? 1,
    caPem: certificate.caPem,
    rateLimits,
    webhookReach,
    jobs,
    installation: () => installation.state,
    warnings: () => openFiles.warnings(),
    ...(parts.gatherMetrics === undefined ? {} : { gatherMetrics: parts.gatherMetrics }),
    plugins: [dashboardPages(), ...(objectRoutes === null ? [] : [objectRoutes])],
  });

  const webhookCa = await readWebhookCa(config.webhookCa);
  const { registry, surroundings } = sequencer.metrics;
  measurePools(registry, { requests: pool, jobs: byClock.pool, log: sequencer.pool });
  if (leads) {
    const serviceBackup = serviceBackupOf(config);
    if (serviceBackup !== null) measureServiceBackups(surroundings, serviceBackup);
    measureSurroundings(surroundings, {
      dataDirectory: config.data,
      certificate: () => certificate.pem,
      log: lookBack,
      jobs: byClock.pool,
    });
  }
  const endRenewals = certificate.renewFor((options) => {
    if (app.server instanceof TlsServer) app.server.setSecureContext(options);
  });
  cleanup.addLimited(async () => {
    endRenewals();
    await endRequests(app, end, log);
  });
  await listen(app, config.listen);
  if (leads)
    startBackground(
      {
        config,
        log,
        byClock,
        sealer,
        signer,
        objects,
        envelopes,
        installation,
        jobs,
        rateLimits,
        sequencer,
        webhooks: { ...webhookReach, ca: webhookCa },
      },
      { signal: end.shutdown, timeToStop_ms: () => end.timeToStop_ms() },
      cleanup,
    );
  if (isFirst) {
    await keepServedAddress(config);
    announce(config, certificate, log);
  }
  return { metrics: sequencer.metrics };
}

/** Held polls end, and from now on every answer closes its connection. */
async function endRequests(app: FastifyInstance, end: WorkerEnd, log: Logger): Promise<void> {
  const began = performance.now();
  const within_ms = end.timeToStop_ms();
  if (end.isReplaced) await sendElsewhere(app, within_ms);
  const finished = await drain(app, () => end.timeForRequests_ms());
  const after_s = Math.round((performance.now() - began) / 1000);
  if (!finished) log.warn({ after_s }, "requests still in flight were cut off");
}

/** What the routes need of the settings. */
function settingsOf(config: Config) {
  return {
    publicUrl: config.publicUrl,
    downloads: config.downloads ?? BUILT_HERE,
    signup: config.signup,
    hasMail: config.smtpUrl !== undefined,
    quotas: quotaDefaults(config),
    heartbeatInterval_s: config.heartbeatInterval_s,
    silentAfterIntervals: config.silentAfterIntervals,
    metricsToken: config.metricsToken,
    ...(config.trustProxy.length === 0 ? {} : { trustProxy: config.trustProxy }),
  };
}

function serviceBackupOf({ backupDirectory, backupEvery_h }: Config): JobDeps["serviceBackup"] {
  return backupDirectory === undefined ? null : { directory: backupDirectory, every_h: backupEvery_h };
}

function jobsOf(
  config: Config,
  logger: Logger,
  parts: Pick<JobDeps, "requireDeletable" | "db" | "objects" | "envelopes">,
): Job[] {
  return featureJobs({
    ...parts,
    quotas: quotaDefaults(config),
    quarantineDays: config.quarantineDays,
    clock: systemClock,
    logger,
    scheduleGrace_s: config.scheduleGrace_s,
    scheduleJitter_s: config.scheduleJitter_s,
    retentionDelay_s: config.retentionDelayDays * 86_400,
    heartbeatInterval_s: config.heartbeatInterval_s,
    silentAfterIntervals: config.silentAfterIntervals,
    serviceBackup: serviceBackupOf(config),
    archiveAfter_days: config.archiveAfterDays ?? null,
  });
}
