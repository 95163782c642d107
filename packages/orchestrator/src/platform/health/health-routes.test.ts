import fastify from "fastify";
import { afterEach, expect, test, vi } from "vitest";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import { healthRoutes, readinessOf } from "./health-routes.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("readyz is well again as soon as a clock that was ahead is set back", async () => {
  const database = await openTestDatabase();
  const { pool } = database;
  const app = fastify();
  const now_ms = Date.now();
  const clockTrouble = (): string | null =>
    Date.now() - now_ms > 1_800_000 ? "The clock is an hour ahead." : null;
  const shutdown = new AbortController().signal;
  const readiness = readinessOf({ pool, shutdown, clockTrouble });
  await app.register(healthRoutes({ readiness, warnings: () => [] }));
  const status = async (): Promise<number> => (await app.inject("/readyz")).statusCode;
  try {
    vi.useFakeTimers({ toFake: ["Date"], now: now_ms + 3_600_000 });
    expect(await status()).not.toBe(200);
    vi.useRealTimers();
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
  } finally {
    await app.close();
    await database.close();
  }
});
