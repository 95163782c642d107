import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Pool } from "pg";
import { unavailable } from "../errors/api-error.ts";

export interface HealthChecks {
  pool: Pool;
  /** Aborted when the service begins to shut down. */
  shutdown: AbortSignal;
  /**
   * What somebody should look at although it does not keep the service from serving, one word each.
   */
  warnings: () => string[];
}

/**
 * How long an answer is reused, so that asking costs the database nothing, however often somebody
 * asks.
 */
const FRESH_MS = 1000;
const WITHIN_MS = 2000;

/**
 * For load balancers and supervisors: `GET /healthz` answers as long as the process does; `GET
 * /readyz` says whether it can serve, and otherwise answers 503 `unavailable`.
 */
export function healthRoutes({ pool, shutdown, warnings }: HealthChecks): FastifyPluginAsync {
  let asked = { at: 0, answers: Promise.resolve(false) };
  const databaseAnswers = (): Promise<boolean> => {
    if (Date.now() - asked.at > FRESH_MS) asked = { at: Date.now(), answers: ask(pool) };
    return asked.answers;
  };
  return async (app: FastifyInstance) => {
    app.get("/healthz", async () => ({ status: "ok" }));
    app.get("/readyz", async () => {
      if (shutdown.aborted) throw unavailable("The service is shutting down.");
      if (!(await databaseAnswers())) throw unavailable("The service cannot reach its database right now.");
      return { status: "ready", warnings: warnings() };
    });
  };
}

async function ask(pool: Pool): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), WITHIN_MS);
  });
  const answered = pool.query("select 1").then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
