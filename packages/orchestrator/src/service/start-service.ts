import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import { sweepTemporaryFiles } from "@attestore/host/durable-files";
import { errorMessage } from "@attestore/host/errno";
import { startAbandonedUploads } from "../features/backups/abandoned-uploads.ts";
import { BUILT_HERE } from "../features/downloads/download-routes.ts";
import { dashboardPages } from "../features/dashboard/page-routes.ts";
import { featureJobs } from "../features/jobs.ts";
import { deliverNotifications } from "../features/notifications/deliveries/deliver.ts";
import { readWebhookCa } from "../features/notifications/channels/webhook-ca.ts";
import { guardDeletions } from "../features/installation/guarded-store.ts";
import { Installation } from "../features/installation/installation.ts";
import { watchInstallation } from "../features/installation/watch.ts";
import { measureSurroundings } from "../features/metrics/measure-surroundings.ts";
import { measureCheckpoints } from "../features/metrics/service-metrics.ts";
import { measureServiceBackups } from "../features/service-backup/backup-gauges.ts";
import { quotaDefaults } from "../features/quotas/settings.ts";
import { startCheckpointPublisher } from "../log/checkpoint-publisher.ts";
import { CheckpointSigner } from "../log/checkpoint-signer.ts";
import { committedHeads } from "../log/missing-heads.ts";
import { endHold } from "../log/held-logs.ts";
import { SignedHeads } from "../log/signed-heads.ts";
import { openSequencerPool } from "../log/sequencer-pool.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config/read-config.ts";
import { keepServedAddress } from "../platform/config/served-address.ts";
import { JOB_LIMITS, REQUEST_LIMITS } from "../platform/database/connection-limits.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { letServiceIn } from "../platform/database/roles.ts";
import { warnOfPasskeys } from "../features/operators/warn-of-passkeys.ts";
import { warnOfPrivileges } from "../platform/database/service-privileges.ts";
import { startHousekeeping } from "../platform/http/housekeeping.ts";
import { runJobs } from "../platform/jobs/run-jobs.ts";
import { RATE_LIMITS } from "../platform/http/rate-limits.ts";
import { readIdentity, requireIdentity } from "../platform/keys/service-identity.ts";
import { recordAuthority } from "../platform/keys/recorded-authority.ts";
import { openServiceKeys } from "../platform/keys/service-keys.ts";
import { keySlots, leftFiles } from "../platform/keys/key-slots.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { deliverMail } from "../platform/mail/deliver-mail.ts";
import { openMailTransport } from "../platform/mail/open-transport.ts";
import { openDatabase } from "../platform/postgres/open-database.ts";
import { loadServerTls } from "../platform/tls/server-tls.ts";
import { Cleanup } from "./cleanup.ts";
import { drain, listen } from "./listen.ts";
import { openObjects } from "./open-objects.ts";
import { openSequencer } from "./open-sequencer.ts";
import { serviceApp } from "./service-app.ts";

export interface Service {
  /** Finishes what was accepted, then releases everything, the database last. */
  stop(): Promise<void>;
}

/** A replaced certificate is served within this time, and at once after SIGHUP. */
const RENEWAL_EVERY_MS = 60 * 1000;
const MAIL_WITHIN_MS = 5000;
/** Jobs, mails, webhooks and metrics: few at once, and no person waits for them. */
const JOB_CONNECTIONS = 4;
/** After a restore, for agents to say which heads they hold. */
const HOLD_HEARTBEATS = 3;
const ASK_STORE_WITHIN_MS = 10_000;

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
  const opened = await openDatabase({
    dataDirectory: config.data,
    databaseUrl: config.databaseUrl,
    migrationsUrl: config.migrationsUrl,
    binaries: config.postgres,
    user: config.postgresUser,
    role: "serve",
    log,
  });
  cleanup.add(() => opened.close());
  await migrate(opened.connection, log, undefined, opened);
  if (config.databaseUrl === undefined) await letServiceIn(opened.connection);
  const connection = opened.service;
  const access = connectDatabase({
    connection,
    log,
    connections: config.databaseConnections,
    way: "requests",
    limits: REQUEST_LIMITS,
  });
  cleanup.add(() => access.close());
  const { database: db, pool } = access;
  await warnOfPrivileges(pool, log);
  const byClock = connectDatabase({
    connection,
    log,
    connections: JOB_CONNECTIONS,
    way: "jobs",
    limits: JOB_LIMITS,
  });
  cleanup.add(() => byClock.close());

  const keysDirectory = join(config.data, "keys");
  const keys = await openServiceKeys(config, (await readIdentity(pool)) === null ? "create" : "refuse");
  cleanup.add(() => keys.close());
  const identity = await requireIdentity(byClock.pool, keys, config);
  await warnOfPasskeys(db, config.publicUrl, log);
  const left = await leftFiles(keySlots(config));
  if (left.length > 0)
    log.warn({ files: left }, "keys in the token also exist as files; see attestore-server keys move");
  const tlsSettings = {
    directory: join(config.data, "tls"),
    hostnames: [...config.hostnames, new URL(config.publicUrl).hostname, config.listen.host],
    certificateFile: config.tlsCertificate,
    keyFile: config.tlsKey,
    authority: keys.authority,
  };
  const tls = await loadServerTls(tlsSettings, log);
  // This is the directory's only service, so whatever looks unfinished is unfinished.
  for (const directory of [keysDirectory, ...(tls.caFile === null ? [] : [tlsSettings.directory])]) {
    await sweepTemporaryFiles(directory);
  }
  const downloads = config.downloads ?? BUILT_HERE;
  const caPem = tls.caFile === null ? null : await readFile(tls.caFile, "utf8");
  const otherAuthority = caPem === null ? null : await recordAuthority(byClock.pool, caPem);
  if (otherAuthority !== null)
    log.warn(
      { ca_file: tls.caFile ?? undefined, other_sha256: otherAuthority },
      "the start before this one, perhaps another replica's, served with another certificate authority: agents that know its ca.pem refuse this one. Replicas need the same tls/, or a certificate of your own (ATTESTORE_TLS_CERT)",
    );
  const { objects: store, routes: objectRoutes } = await openObjects(config, keys.objectUrls, log);

  const signed = await SignedHeads.open(join(config.data, "signed-heads"));
  cleanup.add(() => signed.close());
  const lookBack = openSequencerPool(connection, log, { max: 1, way: "log" });
  cleanup.add(() => lookBack.end());
  const signer = new CheckpointSigner(identity.log_host, keys.log, {
    signed,
    ...committedHeads(lookBack),
  });
  const installation = new Installation({ pool: byClock.pool, objects: store, signed, signer, logger: log });
  await installation.checkLogs();
  // A store that is unreachable at the moment does not keep the service from starting; until it
  // answers, nothing is deleted.
  await Promise.race([installation.check(), delay(ASK_STORE_WITHIN_MS, undefined, { ref: false })]);
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
  const rateLimits = {
    ...RATE_LIMITS,
    default: { ...RATE_LIMITS.default, ...config.rateDefault },
    attach_failures: { ...RATE_LIMITS.attach_failures, ...config.rateAttachFailures },
    bootstrap_start: { ...RATE_LIMITS.bootstrap_start, ...config.rateBootstrapStart },
    signup_address: { ...RATE_LIMITS.signup_address, ...config.rateSignupAddress },
    signup_email: { ...RATE_LIMITS.signup_email, ...config.rateSignupEmail },
    login_address: { ...RATE_LIMITS.login_address, ...config.rateLoginAddress },
    login_email: { ...RATE_LIMITS.login_email, ...config.rateLoginEmail },
    verify_email: { ...RATE_LIMITS.verify_email, ...config.rateVerifyEmail },
    org_requests: { ...RATE_LIMITS.org_requests, ...config.quotaRequests },
  };
  const quotas = quotaDefaults(config);
  const serviceBackup =
    config.backupDirectory === undefined
      ? null
      : { directory: config.backupDirectory, every_h: config.backupEvery_h };
  if (serviceBackup !== null) measureServiceBackups(sequencer.metrics.registry, serviceBackup);
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
    log: sequencer,
    signer,
    sealer,
    logger: log,
    clock: systemClock,
    tls: tls.options,
    shutdown: shutdown.signal,
    publicUrl: config.publicUrl,
    caPem,
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

  let served = String(tls.options.cert);
  measureSurroundings(sequencer.metrics.registry, {
    dataDirectory: config.data,
    certificate: () => served,
    pools: { requests: pool, jobs: byClock.pool, log: sequencer.pool },
    log: lookBack,
    jobs: byClock.pool,
  });
  const renew = (): void => {
    void loadServerTls(tlsSettings, log).then(
      ({ options }) => {
        if (app.server instanceof TlsServer) app.server.setSecureContext(options);
        served = String(options.cert);
      },
      (error: unknown) =>
        log.error({ reason: errorMessage(error) }, "the server certificate could not be renewed"),
    );
  };
  const renewal = setInterval(renew, RENEWAL_EVERY_MS);
  process.on("SIGHUP", renew);
  cleanup.add(async () => {
    clearInterval(renewal);
    process.off("SIGHUP", renew);
    // Held polls end, and from now on every answer closes its connection.
    const finished = await drain(app, timeToStop_ms());
    if (!finished) log.warn({ after_s: config.shutdown_s }, "requests still in flight were cut off");
  });
  await listen(app, config.listen);
  await keepServedAddress(config);
  await endHold(byClock.pool, HOLD_HEARTBEATS * config.heartbeatInterval_s);
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
  const certificate = new X509Certificate(String(tls.options.cert));
  log.info(
    {
      url: config.publicUrl,
      address: `${config.listen.host}:${config.listen.port}`,
      data: config.data,
      ca_file: tls.caFile ?? undefined,
      certificate_until: new Date(certificate.validTo).toISOString(),
      database: config.databaseUrl === undefined ? "embedded" : "DATABASE_URL",
      objects: config.s3Bucket === undefined ? "disk" : `S3 bucket ${config.s3Bucket}`,
    },
    "listening",
  );
  if (tls.caFile !== null)
    log.info(
      { ca_file: tls.caFile },
      "browsers warn about the certificate, because this service issued it itself: continue, or import ca_file as an authority for websites; attestore-server trust says how, and has this machine's other programs trust it",
    );
}
