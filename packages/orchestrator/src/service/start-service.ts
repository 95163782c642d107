import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import { sweepTemporaryFiles } from "@attestore/host/durable-files";
import { startAbandonedUploads } from "../features/backups/abandoned-uploads.ts";
import { dashboardPages } from "../features/dashboard/page-routes.ts";
import { BUILT_HERE } from "../features/downloads/download-routes.ts";
import { guardDeletions } from "../features/installation/guarded-store.ts";
import { watchInstallation } from "../features/installation/watch.ts";
import { featureJobs } from "../features/jobs.ts";
import { measurePools, measureSurroundings } from "../features/metrics/measure-surroundings.ts";
import { measureCheckpoints } from "../features/metrics/service-metrics.ts";
import { readWebhookCa } from "../features/notifications/channels/webhook-ca.ts";
import { deliverNotifications } from "../features/notifications/deliveries/deliver.ts";
import { warnOfPasskeys } from "../features/operators/warn-of-passkeys.ts";
import { quotaDefaults } from "../features/quotas/settings.ts";
import { measureServiceBackups } from "../features/service-backup/backup-gauges.ts";
import { startCheckpointPublisher } from "../log/checkpoint-publisher.ts";
import { MAX_CLOCKS_APART_MS } from "../log/clock-off.ts";
import { endHold } from "../log/held-logs.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config/read-config.ts";
import { keepServedAddress } from "../platform/config/served-address.ts";
import { startHousekeeping } from "../platform/http/housekeeping.ts";
import { runJobs } from "../platform/jobs/run-jobs.ts";
import { keySlots, leftFiles } from "../platform/keys/key-slots.ts";
import { readIdentity, requireIdentity } from "../platform/keys/service-identity.ts";
import { openServiceKeys } from "../platform/keys/service-keys.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { LocalPlaces } from "../platform/workers/places.ts";
import { deliverMail } from "../platform/mail/deliver-mail.ts";
import { openMailTransport } from "../platform/mail/open-transport.ts";
import { Cleanup } from "./cleanup.ts";
import { drain, listen } from "./listen.ts";
import { openDatabases } from "./open-databases.ts";
import { openInstallation } from "./open-installation.ts";
import { openObjects } from "./open-objects.ts";
import { openSequencer } from "./open-sequencer.ts";
import { rateLimitsOf } from "./rate-limits.ts";
import { ServerCertificate } from "./server-certificate.ts";
import { serviceApp } from "./service-app.ts";

export interface Service {
  /** Finishes what was accepted, then releases everything, the database last. */
  stop(): Promise<void>;
}

const MAIL_WITHIN_MS = 5000;
/** After a restore, for agents to say which heads they hold. */
const HOLD_HEARTBEATS = 3;

/**
 * Starts the whole service with these settings. Resolves when it accepts requests; if the start
 * fails, whatever was started is stopped again.
 */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const cleanup = new Cleanup();
  try {
    await start(config, log, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
  return { stop: () => cleanup.run() };
}

async function start(config: Config, log: Logger, cleanup: Cleanup): Promise<void> {
  const databases = await openDatabases(config, log, cleanup);
  const { connection, jobs: byClock } = databases;
  const { database: db, pool } = databases.requests;

  const keysDirectory = join(config.data, "keys");
  const keys = await openServiceKeys(config, (await readIdentity(pool)) === null ? "create" : "refuse");
  cleanup.add(() => keys.close());
  const identity = await requireIdentity(byClock.pool, keys, config);
  await warnOfPasskeys(db, config.publicUrl, log);
  const left = await leftFiles(keySlots(config));
  if (left.length > 0)
    log.warn({ files: left }, "keys in the token also exist as files; see attestore-server keys move");
  const certificate = await ServerCertificate.load(config, keys.authority, log);
  // This is the directory's only service, so whatever looks unfinished is unfinished.
  for (const directory of [
    keysDirectory,
    ...(certificate.caFile === null ? [] : [join(config.data, "tls")]),
  ]) {
    await sweepTemporaryFiles(directory);
  }
  const downloads = config.downloads ?? BUILT_HERE;
  await certificate.warnOfOtherAuthority(byClock.pool);
  const places = new LocalPlaces();
  const { objects: store, routes: objectRoutes } = await openObjects(config, keys.objectUrls, log);

  const { installation, signer, lookBack } = await openInstallation(
    { config, keys, logHost: identity.log_host, objects: store, log },
    databases,
    cleanup,
  );
  const requireDeletable = (): Promise<void> => installation.requireDeletable();
  const objects = guardDeletions(store, requireDeletable);
  const sequencer = openSequencer(connection, signer, log);
  cleanup.add(() => sequencer.close());

  const shutdown = new AbortController();
  let stopUntil: number | null = null;
  /** Begins the end, and says for how long all that still runs may go on. */
  const timeToStop_ms = (): number => {
    shutdown.abort();
    stopUntil ??= Date.now() + config.shutdown_s * 1000;
    return Math.max(0, stopUntil - Date.now());
  };
  const { sealer } = keys.sealing;
  const webhookReach = { networks: config.webhookNetworks, http: config.webhookHttp };
  const rateLimits = rateLimitsOf(config);
  const quotas = quotaDefaults(config);
  const serviceBackup =
    config.backupDirectory === undefined
      ? null
      : { directory: config.backupDirectory, every_h: config.backupEvery_h };
  if (serviceBackup !== null) measureServiceBackups(sequencer.metrics.surroundings, serviceBackup);
  const jobList = featureJobs({
    requireDeletable,
    quotas,
    quarantineDays: config.quarantineDays,
    db: byClock.database,
    objects,
    clock: systemClock,
    logger: log,
    scheduleGrace_s: config.scheduleGrace_s,
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
    places,
    log: sequencer,
    signer,
    sealer,
    logger: log,
    clock: systemClock,
    tls: certificate.options,
    shutdown: shutdown.signal,
    publicUrl: config.publicUrl,
    caPem: certificate.caPem,
    downloads,
    signup: config.signup,
    quotas,
    rateLimits,
    webhookReach,
    heartbeatInterval_s: config.heartbeatInterval_s,
    jobs: jobList,
    metricsToken: config.metricsToken,
    installation: () => installation.state,
    plugins: [dashboardPages(), ...(objectRoutes === null ? [] : [objectRoutes])],
    ...(config.trustProxy.length === 0 ? {} : { trustProxy: config.trustProxy }),
  });

  const transport = openMailTransport(config, (text) => void process.stderr.write(text));
  const notifications = deliverNotifications(
    {
      db: byClock.database,
      sealer,
      signer,
      logger: log,
      transport,
      publicUrl: config.publicUrl,
      webhooks: { ...webhookReach, ca: await readWebhookCa(config.webhookCa) },
    },
    shutdown.signal,
  );
  const delivery = deliverMail({ db: byClock.database, sealer, transport, logger: log }, shutdown.signal);
  cleanup.add(async () => {
    shutdown.abort();
    // Whoever serves next sends again what is cut off here.
    await Promise.race([
      Promise.all([delivery, notifications]),
      delay(MAIL_WITHIN_MS, undefined, { ref: false }),
    ]);
    transport.close();
  });

  measurePools(sequencer.metrics.registry, { requests: pool, jobs: byClock.pool, log: sequencer.pool });
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
    const finished = await drain(app, timeToStop_ms());
    if (!finished) log.warn({ after_s: config.shutdown_s }, "requests still in flight were cut off");
  });
  await listen(app, config.listen);
  await keepServedAddress(config);
  void endHold({
    pool: byClock.pool,
    after_s: HOLD_HEARTBEATS * config.heartbeatInterval_s,
    logger: log,
    signal: shutdown.signal,
  });
  startCheckpointPublisher({
    pool: sequencer.pool,
    signer,
    logger: log,
    onDone: measureCheckpoints(sequencer.metrics),
    signal: shutdown.signal,
  });
  startAbandonedUploads({ db: byClock.database, objects, logger: log, signal: shutdown.signal });
  const jobs = runJobs({
    db: byClock.database,
    clock: systemClock,
    clocksApart_s: MAX_CLOCKS_APART_MS / 1000,
    logger: log,
    signal: shutdown.signal,
    jobs: jobList,
  });
  cleanup.add(async () => {
    await Promise.race([jobs, delay(timeToStop_ms(), undefined, { ref: false })]);
  });
  const watched = watchInstallation(installation, shutdown.signal);
  cleanup.add(async () => {
    await Promise.race([watched, delay(timeToStop_ms(), undefined, { ref: false })]);
  });
  startHousekeeping({
    db: byClock.database,
    lifetimes: { rateLimits, apiLogDays: config.apiLogDays },
    logger: log,
    signal: shutdown.signal,
  });
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
