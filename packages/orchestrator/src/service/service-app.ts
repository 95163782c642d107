import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Pool } from "pg";
import { recordFirstCall } from "../features/attach/first-call.ts";
import { downloadRoutes } from "../features/downloads/download-routes.ts";
import { WaitingAgents } from "../features/command-wait/waiting-agents.ts";
import { appendImpersonatedCall } from "../features/impersonation/append-call.ts";
import type { InstallationState } from "../features/installation/installation.ts";
import { warningsOf } from "../features/installation/warnings.ts";
import { tlogTilesRoutes } from "../features/log/tlog-tiles-routes.ts";
import { metricsRoute, type MetricsOptions } from "../features/metrics/metrics-route.ts";
import {
  measureQueue,
  measureRequests,
  measureWaitingAgents,
  type ServiceMetrics,
} from "../features/metrics/service-metrics.ts";
import { requestQuotas } from "../features/quotas/request-quota.ts";
import { type FeatureDeps, featureRoutes } from "../features/routes.ts";
import { logErrorAnswer } from "../features/submissions/log-error-answer.ts";
import { clockOff } from "../log/clock-off.ts";
import { createWitness } from "../log/witnesses/witness.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import type { Database } from "../platform/database/schema.ts";
import { healthRoutes, readinessOf } from "../platform/health/health-routes.ts";
import { type AppOptions, buildApp } from "../platform/http/app.ts";
import { KeyTokenError } from "../platform/keys/token/key-token-error.ts";
import type { Logger } from "../platform/logging/logger.ts";
import type { OpenSequencer } from "./open-sequencer.ts";

export interface ServiceParts
  extends
    Omit<FeatureDeps, "sequencer" | "acceptWitness" | "waiting">,
    Pick<
      AppOptions,
      "tls" | "shutdown" | "rateLimits" | "trustProxy" | "connections" | "slowReaders" | "workers"
    > {
  /** The same database as `db`. */
  pool: Pool;
  /**
   * Aborted when the whole service begins to shut down; `shutdown` also when only this worker does.
   */
  serviceEnds: AbortSignal;
  connection: ConnectionSettings;
  /** The database as the jobs see it. */
  jobsDb: Database;
  log: OpenSequencer;
  logger: Logger;
  jobs: MetricsOptions["jobs"];
  metricsToken: string | undefined;
  /** Of all processes of the service; by default there is only this one. */
  gatherMetrics?: MetricsOptions["gather"];
  installation: () => InstallationState;
  /** More warnings for `/readyz`. */
  warnings?: () => string[];
  /** Routes that only some services have: the object store's, the dashboard's pages. */
  plugins: readonly FastifyPluginAsync[];
}

/** This process's metrics about itself, and about the whole service if that is its task. */
export function ownMetrics({ registry, surroundings }: ServiceMetrics): Promise<string[]> {
  return Promise.all([registry.metrics(), surroundings.metrics()]);
}

/** The service's HTTPS server with all of its routes, not yet listening. */
export function serviceApp(parts: ServiceParts): FastifyInstance {
  const { db, signer, logger, log } = parts;
  const waiting = new WaitingAgents(parts);
  const app = buildApp({
    ...parts,
    routes: featureRoutes({
      ...parts,
      waiting,
      sequencer: log.sequencer,
      acceptWitness: createWitness({ db, signer, logger }),
    }),
    appendImpersonatedCall,
    answerTo: (error) => (error instanceof KeyTokenError ? error.answer : logErrorAnswer(error)),
    firstAgentCall: (agentId) => recordFirstCall(db, agentId),
    requestQuota: requestQuotas(db, parts.quotas),
  });
  app.addHook("onClose", () => waiting.close());
  measureRequests(app, log.metrics);
  measureWaitingAgents(log.metrics, () => waiting.count);
  measureQueue(log.metrics, () => log.sequencer.waiting);
  const readiness = readinessOf({
    pool: parts.pool,
    shutdown: parts.serviceEnds,
    clockTrouble: (now, asked_ms) => clockOff(now, asked_ms)?.message ?? null,
  });
  app.register(
    metricsRoute({
      db: parts.jobsDb,
      clock: parts.clock,
      logger,
      jobs: parts.jobs,
      gather: parts.gatherMetrics ?? (() => ownMetrics(log.metrics)),
      token: parts.metricsToken,
      installation: parts.installation,
      readiness,
    }),
  );
  app.register(
    healthRoutes({
      readiness,
      warnings: () => [...warningsOf(parts.installation()), ...(parts.warnings?.() ?? [])],
    }),
  );
  app.register(tlogTilesRoutes({ db, signer }));
  app.register(downloadRoutes({ directory: parts.downloads, caPem: parts.caPem }));
  for (const plugin of parts.plugins) app.register(plugin);
  return app;
}
