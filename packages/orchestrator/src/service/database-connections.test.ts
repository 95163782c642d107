import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../test/database/test-database.ts";
import { RecordingLogger } from "../../test/recording-logger.ts";
import { readConfig } from "../platform/config/read-config.ts";
import { embeddedConnections, fittingWorkers } from "./database-connections.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const settings = (workers: string, connections: number, more: NodeJS.ProcessEnv = {}) =>
  readConfig({
    ATTESTORE_WORKERS: workers,
    ATTESTORE_DATABASE_CONNECTIONS: String(connections),
    ...more,
  });

test("as many workers start as the database has connections for, and a number that is too large is refused", async () => {
  const log = new RecordingLogger();
  const { rows } = await database.pool.query<{ most: number }>(
    "select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most",
  );
  const most = rows[0]?.most ?? 0;
  const each = Math.floor(most / 4);
  const fit = (workers: string, count: number, more?: NodeJS.ProcessEnv) =>
    fittingWorkers(database.connection, settings(workers, each - 10, more), { workers: count, log });
  expect(await fit("3", 3)).toBe(3);
  await expect(fit("4", 4)).rejects.toMatchObject({
    code: "invalid_setting",
    message: expect.stringContaining(`${each * 5} connections`) as unknown,
  });
  expect(await fit("auto", 60)).toBe(3);
  const elsewhere = { DATABASE_URL: "postgresql://db.example.org/attestore" };
  expect([await fit("auto", 3, elsewhere), await fit("3", 3, elsewhere)]).toEqual([1, 3]);
  expect(log.lines).toMatchObject([
    { level: "warn", fields: { workers: 3, max_connections: most } },
    { level: "warn", fields: { workers: 1, max_connections: most } },
  ]);
});

test("the embedded database takes the connections of all workers, one more of them, and commands", () => {
  expect(embeddedConnections(settings("2", 10), 2)).toBeUndefined();
  expect(embeddedConnections(settings("16", 10), 16)).toBe(17 * 20 + 20 + 3);
});
