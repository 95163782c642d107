import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Pool } from "pg";
import { unavailable } from "../errors/api-error.ts";
import { type ClockTrouble, writeProof } from "./prove-write.ts";

export interface HealthChecks {
  pool: Pool;
  /** Aborted when the service begins to shut down. */
  shutdown: AbortSignal;
  /** Warnings that do not keep the service from serving, one word each. */
  warnings: () => string[];
  clockTrouble: ClockTrouble;
}

/**
 * How long an answer is reused, so that asking costs the database nothing, however often somebody
 * asks.
 */
const FRESH_MS = 1000;

/**
 * For load balancers and supervisors: `GET /healthz` answers as long as the process does; `GET
 * /readyz` says whether it can serve, which a write proves, and otherwise answers 503
 * `unavailable` with the reason.
 */
export function healthRoutes({ pool, shutdown, warnings, clockTrouble }: HealthChecks): FastifyPluginAsync {
  const proveWrite = writeProof(pool, clockTrouble);
  let asked = { at: -FRESH_MS - 1, reason: Promise.resolve<string | null>(null) };
  const databaseTrouble = (): Promise<string | null> => {
    if (performance.now() - asked.at > FRESH_MS) asked = { at: performance.now(), reason: proveWrite() };
    return asked.reason;
  };
  return async (app: FastifyInstance) => {
    app.get("/healthz", async () => ({ status: "ok" }));
    app.get("/readyz", async () => {
      if (shutdown.aborted) throw unavailable("The service is shutting down.");
      const trouble = await databaseTrouble();
      if (trouble !== null) throw unavailable(trouble);
      return { status: "ready", warnings: warnings() };
    });
  };
}
