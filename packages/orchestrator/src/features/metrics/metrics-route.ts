import { timingSafeEqual } from "node:crypto";
import { errorMessage } from "@attestore/host/errno";
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { Registry } from "prom-client";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/schema.ts";
import { bearerOf, credentialHash, unauthenticated } from "../../platform/http/credentials/bearer.ts";
import type { Job } from "../../platform/jobs/job.ts";
import type { Readiness } from "../../platform/health/health-routes.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { InstallationState } from "../installation/installation.ts";
import { cacheAnswer } from "./cached-answer.ts";
import { mergeExpositions } from "./merge-expositions.ts";
import { readServiceState, type ServiceState } from "./read-state.ts";
import { type ShowState, stateGauges } from "./state-gauges.ts";

export interface MetricsOptions {
  db: Database;
  clock: Clock;
  logger: Logger;
  jobs: readonly Pick<Job, "name" | "every_s">[];
  /** The metrics of each process of the service, in Prometheus' text format. */
  gather: () => Promise<readonly string[]>;
  /** ATTESTORE_METRICS_TOKEN */
  token: string | undefined;
  installation: () => InstallationState;
  readiness: Readiness;
}

/** The state is read at most this often, however often somebody asks. */
const FRESH_MS = 1000;

/**
 * `GET /metrics` in Prometheus' text format, for programs on this machine that connect without a
 * proxy, and for whoever has the token. Without the token it names no sources: any user of the
 * machine can ask.
 */
export function metricsRoute({
  db,
  clock,
  logger,
  jobs,
  gather,
  token,
  installation,
  readiness,
}: MetricsOptions): FastifyPluginAsync {
  const views = { named: stateView(true), unnamed: stateView(false) };
  const tokenHash = token === undefined ? null : credentialHash(token);
  const state = cacheAnswer<ServiceState | null>(
    () =>
      readServiceState(db, jobs, clock()).catch((error: unknown) => {
        logger.warn(
          { reason: errorMessage(error) },
          "the metrics that come from the database could not be read",
        );
        return null;
      }),
    { fresh_ms: FRESH_MS },
  );
  return async (app: FastifyInstance) => {
    app.get("/metrics", async (request, reply) => {
      const isNamed = hasToken(request, tokenHash);
      if (!isLocal(request) && !isNamed) throw unauthenticated();
      const { registry, show } = isNamed ? views.named : views.unnamed;
      const [found, trouble] = await Promise.all([state(), readiness()]);
      show(found, installation(), trouble === null);
      const texts = [...(await gather()), await registry.metrics()];
      return reply.type(registry.contentType).send(mergeExpositions(texts));
    });
  };
}

function stateView(names: boolean): { registry: Registry; show: ShowState } {
  const registry = new Registry();
  return { registry, show: stateGauges(registry, names) };
}

/**
 * A connection from this machine that no proxy forwarded: a reverse proxy beside the service
 * connects from here too.
 */
function isLocal({ raw, headers }: FastifyRequest): boolean {
  const address = raw.socket.remoteAddress ?? "";
  const isLoopback = address === "::1" || /^(::ffff:)?127\./.test(address);
  const isForwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some(
    (name) => headers[name] !== undefined,
  );
  return isLoopback && !isForwarded;
}

function hasToken(request: FastifyRequest, expected: Buffer | null): boolean {
  const given = bearerOf(request.headers.authorization);
  return given !== null && expected !== null && timingSafeEqual(credentialHash(given), expected);
}
