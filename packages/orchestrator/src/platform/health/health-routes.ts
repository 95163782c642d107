import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Pool } from "pg";
import { unavailable } from "../errors/api-error.ts";
import { type ClockTrouble, writeProof } from "./prove-write.ts";

export interface ReadinessChecks {
  pool: Pool;
  /** Aborted when the service begins to shut down. */
  shutdown: AbortSignal;
  clockTrouble: ClockTrouble;
}

/** Null if the service can serve, else why it cannot. */
export type Readiness = () => Promise<string | null>;

export interface HealthChecks {
  readiness: Readiness;
  /** Warnings that do not keep the service from serving, one word each. */
  warnings: () => string[];
}

/**
 * How long an answer is reused, so that asking costs the database nothing, however often somebody
 * asks.
 */
const FRESH_MS = 1000;

/** Whether the service can serve, which a write proves. */
export function readinessOf({ pool, shutdown, clockTrouble }: ReadinessChecks): Readiness {
  const proveWrite = writeProof(pool, clockTrouble);
  let asked = { at: -FRESH_MS - 1, reason: Promise.resolve<string | null>(null) };
  return async () => {
    if (shutdown.aborted) return "The service is shutting down.";
    if (performance.now() - asked.at > FRESH_MS) asked = { at: performance.now(), reason: proveWrite() };
    return asked.reason;
  };
}

/**
 * For load balancers and supervisors: `GET /healthz` answers as long as the process does; `GET
 * /readyz` says whether it can serve, and otherwise answers 503 `unavailable` with the reason.
 */
export function healthRoutes({ readiness, warnings }: HealthChecks): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get("/healthz", async () => ({ status: "ok" }));
    app.get("/readyz", async () => {
      const trouble = await readiness();
      if (trouble !== null) throw unavailable(trouble);
      return { status: "ready", warnings: warnings() };
    });
  };
}
