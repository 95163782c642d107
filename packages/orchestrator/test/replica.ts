import { join } from "node:path";
import { freePort } from "../../../tests/e2e/harness/free-port.ts";
import { BUILT_HERE } from "../src/features/downloads/download-routes.ts";
import type { WebhookReach } from "../src/features/notifications/channels/webhook-url.ts";
import type { QuotaDefaults } from "../src/features/quotas/settings.ts";
import type { SignupMode } from "../src/features/signup/mode.ts";
import { ArchivedEnvelopes } from "../src/log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../src/log/checkpoints/checkpoint-signer.ts";
import { type Clock, systemClock } from "../src/platform/clock.ts";
import type { ConnectionSettings } from "../src/platform/database/connection-settings.ts";
import { connectDatabase } from "../src/platform/database/database.ts";
import type { AppOptions } from "../src/platform/http/app.ts";
import { RATE_LIMITS, type RateLimitTable } from "../src/platform/http/route/rate-limits.ts";
import type { Sealer } from "../src/platform/http/sealer.ts";
import type { Logger } from "../src/platform/logging/logger.ts";
import { DiskStore } from "../src/platform/objects/disk-store.ts";
import { objectRoutes } from "../src/platform/objects/object-routes.ts";
import { openSequencer } from "../src/service/open-sequencer.ts";
import { serviceApp } from "../src/service/service-app.ts";
import { type Answer, type Call, send } from "./client.ts";

/** What a test changes of a service's settings. */
export interface ReplicaOptions {
  /** Whether anybody may sign up; `open` unless told. */
  signup?: SignupMode;
  heartbeatInterval_s?: number;
  rateLimits?: Partial<RateLimitTable>;
  trustProxy?: string[];
  clock?: Clock;
  webhookReach?: WebhookReach;
  metricsToken?: string;
  connections?: AppOptions["connections"];
  slowReaders?: AppOptions["slowReaders"];
  /** Bytes and the like that each organisation may store; no limits unless told. */
  quotas?: Partial<QuotaDefaults>;
  /** From what size on objects are uploaded in parts, and how large those are. */
  parts?: { singlePutLimitBytes: number; partBytes: number };
}

/** What all replicas of one service have in common. */
export interface SharedByReplicas {
  /** The service's directory of data. */
  data: string;
  /** PEM of its certificate authority. */
  ca: string;
  tls: AppOptions["tls"];
  sealer: Sealer;
  signer: CheckpointSigner;
}

export interface Replica {
  url: string;
  port: number;
  call(call: Call): Promise<Answer>;
  /** Requests that it has taken and not answered. */
  holding(): number;
  close(): Promise<void>;
}

/** Starts an app with all of the service's routes, on a port and with connections of its own. */
export async function startReplica(
  { data, ca, tls, sealer, signer }: SharedByReplicas,
  connection: ConnectionSettings,
  logger: Logger,
  options: ReplicaOptions,
): Promise<Replica & { objects: DiskStore; envelopes: ArchivedEnvelopes }> {
  const { limit: requests, window_s } = { ...RATE_LIMITS, ...options.rateLimits }.org_requests;
  const quotas = { bytes: null, objects: null, agents: null, requests, window_s, ...options.quotas };
  const access = connectDatabase({ connection, log: logger, way: "requests" });
  const byClock = connectDatabase({ connection, log: logger, connections: 4, way: "jobs" });
  const port = await freePort();
  const url = `https://localhost:${port}`;
  const shutdown = new AbortController();
  const objects = new DiskStore({
    directory: join(data, "objects"),
    publicUrl: url,
    hmacKey: Buffer.alloc(32, 7),
    ...options.parts,
  });
  await objects.prepare();
  const envelopes = new ArchivedEnvelopes(objects.files);
  const log = openSequencer(connection, signer, logger);
  const app = serviceApp({
    db: access.database,
    pool: access.pool,
    connection,
    jobsDb: byClock.database,
    objects,
    envelopes,
    places: objects.places,
    log,
    signer,
    sealer,
    logger,
    clock: options.clock ?? systemClock,
    tls,
    shutdown: shutdown.signal,
    serviceEnds: shutdown.signal,
    publicUrl: url,
    caPem: null,
    downloads: BUILT_HERE,
    signup: options.signup ?? "open",
    hasMail: true,
    quotas,
    rateLimits: { ...RATE_LIMITS, ...options.rateLimits },
    webhookReach: options.webhookReach ?? { networks: [], http: false },
    heartbeatInterval_s: options.heartbeatInterval_s ?? 60,
    // So few that the interval stays as it is set, however busy the machine is.
    silentAfterIntervals: 3,
    jobs: [{ name: "notify", every_s: 5 }],
    metricsToken: options.metricsToken,
    installation: () => ({ pairing: { is: "paired" }, setBack: [] }),
    plugins: [objectRoutes(objects)],
    ...(options.connections === undefined ? {} : { connections: options.connections }),
    ...(options.slowReaders === undefined ? {} : { slowReaders: options.slowReaders }),
    ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
  });
  let held = 0;
  app.addHook("onRequest", (_request, _reply, done) => {
    held += 1;
    done();
  });
  app.addHook("onResponse", (_request, _reply, done) => {
    held -= 1;
    done();
  });
  await app.listen({ host: "127.0.0.1", port });
  return {
    url,
    port,
    objects,
    envelopes,
    call: (call) => send({ port, ca }, call),
    holding: () => held,
    close: async () => {
      shutdown.abort();
      await app.close();
      await log.close();
      await access.close();
      await byClock.close();
    },
  };
}
