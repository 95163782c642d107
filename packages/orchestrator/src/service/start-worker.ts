import { join } from "node:path";
import { Server as TlsServer } from "node:tls";
import { sweepTemporaryFiles } from "@attestore/host/durable-files";
import { dashboardPages } from "../features/dashboard/page-routes.ts";
import { BUILT_HERE } from "../features/downloads/download-routes.ts";
import { guardDeletions } from "../features/installation/guarded-store.ts";
import { featureJobs } from "../features/jobs.ts";
import { measurePools, measureSurroundings } from "../features/metrics/measure-surroundings.ts";
import { createMetrics, type ServiceMetrics } from "../features/metrics/service-metrics.ts";
import { readWebhookCa } from "../features/notifications/channels/webhook-ca.ts";
import { warnOfPasskeys } from "../features/operators/warn-of-passkeys.ts";
import { quotaDefaults } from "../features/quotas/settings.ts";
import { measureServiceBackups } from "../features/service-backup/backup-gauges.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config/read-config.ts";
import { keepServedAddress } from "../platform/config/served-address.ts";
import { warnOfPrivileges } from "../platform/database/service-privileges.ts";
import { keySlots, leftFiles } from "../platform/keys/key-slots.ts";
import { readIdentity, requireIdentity } from "../platform/keys/service-identity.ts";
import { openServiceKeys } from "../platform/keys/service-keys.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { Cleanup } from "./cleanup.ts";
import { drain, listen, sendElsewhere } from "./listen.ts";
import { openPools } from "./open-databases.ts";
import { openInstallation } from "./open-installation.ts";
import { openObjects } from "./open-objects.ts";
import { openSequencer } from "./open-sequencer.ts";
import { rateLimitsOf } from "./configured-rate-limits.ts";
import { ServerCertificate } from "./server-certificate.ts";
import { ownMetrics, serviceApp } from "./service-app.ts";
import { startBackground } from "./start-background.ts";
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
  const cleanup = new Cleanup();
  const ending: Ending = { isReplaced: false, requestsUntil: 0 };
  try {
    const { metrics } = await start(config, log, { parts, cleanup, ending });
    return {
      stop: (isReplaced = false) => {
        ending.isReplaced = isReplaced;
        ending.requestsUntil = performance.now() + (isReplaced ? REPLACED_MS : config.shutdown_s * 1000);
        return cleanup.run();
      },
      measure: () => ownMetrics(metrics),
    };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** Running uploads and downloads may take this long while another worker serves. */
const REPLACED_MS = 3_600_000;

/** How the worker ends. A worker that was replaced may still be told to stop. */
interface Ending {
  isReplaced: boolean;
  /** When requests that are still in flight are cut off. */
  requestsUntil: number;
}

interface Started {
  parts: WorkerParts;
  cleanup: Cleanup;
  ending: Ending;
}

async function start(
  config: Config,
  log: Logger,
  { parts, cleanup, ending }: Started,
): Promise<{ metrics: ServiceMetrics }> {
  const { leads, isFirst, numbered } = parts;
  const databases = openPools(
    parts.connection,
    { config, log, runsJobs: leads, signed: parts.signed },
    cleanup,
  );
  const { connection, jobs: byClock } = databases;
  const { database: db, pool } = databases.requests;
  if (isFirst) await warnOfPrivileges(pool, log);

  const keysDirectory = join(config.data, "keys");
  const keys = await openServiceKeys(config, (await readIdentity(pool)) === null ? "create" : "refuse");
  cleanup.add(() => keys.close());
  const identity = await requireIdentity(byClock.pool, keys, config);
  const certificate = await ServerCertificate.load(config, keys.authority, log);
  if (isFirst) {
    await warnOfPasskeys(db, config.publicUrl, log);
    const left = await leftFiles(keySlots(config));
    if (left.length > 0)
      log.warn({ files: left }, "keys in the token also exist as files; see attestore-server keys move");
    for (const directory of [
      keysDirectory,
      ...(certificate.caFile === null ? [] : [join(config.data, "tls")]),
    ]) {
      await sweepTemporaryFiles(directory);
    }
    await certificate.warnOfOtherAuthority(byClock.pool);
  }
  const downloads = config.downloads ?? BUILT_HERE;
  const { objects: store, routes: objectRoutes } = await openObjects(config, keys.objectUrls, parts, log);

  const { installation, signer, lookBack } = await openInstallation(
    { keys, logHost: identity.log_host, objects: store, worker: parts, log },
    databases,
    cleanup,
  );
  const requireDeletable = (): Promise<void> => installation.requireDeletable();
  const objects = guardDeletions(store, requireDeletable);
  const sequencer = openSequencer(connection, signer, log, createMetrics(numbered?.worker ?? null));
  cleanup.add(() => sequencer.close());

  const shutdown = new AbortController();
  /** The whole service ends: the others do not continue either. */
  const serviceEnds = new AbortController();
  let stopUntil: number | null = null;
  /** Begins the end, and says how long everything that still runs may take. */
  const timeToStop_ms = (): number => {
    if (!ending.isReplaced) serviceEnds.abort();
    shutdown.abort();
    stopUntil ??= performance.now() + config.shutdown_s * 1000;
    return Math.max(0, stopUntil - performance.now());
  };
  const { sealer } = keys.sealing;
  const webhookReach = { networks: config.webhookNetworks, http: config.webhookHttp };
  const rateLimits = rateLimitsOf(config);
  const quotas = quotaDefaults(config);
  const serviceBackup =
    config.backupDirectory === undefined
      ? null
      : { directory: config.backupDirectory, every_h: config.backupEvery_h };
  if (serviceBackup !== null && leads) measureServiceBackups(sequencer.metrics.surroundings, serviceBackup);
  const jobList = featureJobs({
    requireDeletable,
    quotas,
    quarantineDays: config.quarantineDays,
    db: byClock.database,
    objects,
    clock: systemClock,
    logger: log,
    scheduleGrace_s: config.scheduleGrace_s,
    scheduleJitter_s: config.scheduleJitter_s,
    retentionDelay_s: config.retentionDelayDays * 86_400,
    heartbeatInterval_s: config.heartbeatInterval_s,
    silentAfterIntervals: config.silentAfterIntervals,
    serviceBackup,
  });
  const app = serviceApp({
    db,
    pool,
    connection,
    jobsDb: byClock.database,
    objects,
    places: parts.places,
    log: sequencer,
    signer,
    sealer,
    logger: log,
    clock: systemClock,
    tls: certificate.options,
    shutdown: shutdown.signal,
    serviceEnds: serviceEnds.signal,
    workers: numbered?.of ?? 1,
    publicUrl: config.publicUrl,
    caPem: certificate.caPem,
    downloads,
    signup: config.signup,
    hasMail: config.smtpUrl !== undefined,
    quotas,
    rateLimits,
    webhookReach,
    heartbeatInterval_s: config.heartbeatInterval_s,
    silentAfterIntervals: config.silentAfterIntervals,
    jobs: jobList,
    metricsToken: config.metricsToken,
    installation: () => installation.state,
    ...(parts.gatherMetrics === undefined ? {} : { gatherMetrics: parts.gatherMetrics }),
    plugins: [dashboardPages(), ...(objectRoutes === null ? [] : [objectRoutes])],
    ...(config.trustProxy.length === 0 ? {} : { trustProxy: config.trustProxy }),
  });

  const webhookCa = await readWebhookCa(config.webhookCa);
  measurePools(sequencer.metrics.registry, { requests: pool, jobs: byClock.pool, log: sequencer.pool });
  if (leads)
    measureSurroundings(sequencer.metrics.surroundings, {
      dataDirectory: config.data,
      certificate: () => certificate.pem,
      log: lookBack,
      jobs: byClock.pool,
    });
  const endRenewals = certificate.renewFor((options) => {
    if (app.server instanceof TlsServer) app.server.setSecureContext(options);
  });
  cleanup.add(async () => {
    endRenewals();
    // Held polls end, and from now on every answer closes its connection.
    const began = performance.now();
    const within_ms = timeToStop_ms();
    if (ending.isReplaced) await sendElsewhere(app, within_ms);
    const finished = await drain(app, () => ending.requestsUntil - performance.now());
    const after_s = Math.round((performance.now() - began) / 1000);
    if (!finished) log.warn({ after_s }, "requests still in flight were cut off");
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
        installation,
        jobs: jobList,
        rateLimits,
        sequencer,
        webhooks: { ...webhookReach, ca: webhookCa },
      },
      { signal: shutdown.signal, timeToStop_ms },
      cleanup,
    );
  if (isFirst) {
    await keepServedAddress(config);
    announce(config, certificate, log);
  }
  return { metrics: sequencer.metrics };
}

function announce(config: Config, certificate: ServerCertificate, log: Logger): void {
  log.info(
    {
      url: config.publicUrl,
      address: `${config.listen.host}:${config.listen.port}`,
      data: config.data,
      ca_file: certificate.caFile ?? undefined,
      certificate_until: certificate.validTo.toISOString(),
      database: config.databaseUrl === undefined ? "embedded" : "DATABASE_URL",
      objects: config.s3Bucket === undefined ? "disk" : `S3 bucket ${config.s3Bucket}`,
    },
    "listening",
  );
  if (certificate.caFile !== null)
    log.info(
      { ca_file: certificate.caFile },
      "browsers warn about the certificate, because this service issued it itself: continue, or import ca_file as an authority for websites; attestore-server trust says how, and has this machine's other programs trust it",
    );
}
