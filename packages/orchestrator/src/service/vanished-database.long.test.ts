import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../test/database/test-database.ts";
import { type DatabaseSwitch, openDatabaseSwitch } from "../../test/database-switch.ts";
import { TestServer } from "../../test/test-server.ts";

let database: TestDatabase;
let way: DatabaseSwitch;
let server: TestServer;
beforeAll(async () => {
  database = await openTestDatabase();
  way = await openDatabaseSwitch(database.connection);
  server = await TestServer.create({ first: true });
});
afterAll(async () => {
  await server.remove();
  await way.close();
  await database.close();
});

test("a service whose database vanished says that it is not ready, and stops all the same", async () => {
  const { user, port, database: name } = way.connection;
  const running = await server.serve({
    DATABASE_URL: `postgresql://${user}@127.0.0.1:${port}/${name}`,
    ATTESTORE_SHUTDOWN_S: "1",
  });
  const ready = async (): Promise<number> => (await server.send("GET", "/readyz")).status;
  expect(await ready()).toBe(200);
  way.hang();
  // An answer of a moment ago is used again.
  await expect.poll(ready).toBe(503);
  running.process.kill("SIGTERM");
  const { exitCode, stdout } = await running.finished;
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('"stopped"')]);
});

test("a start before a database that does not answer ends, and says which one it is", async () => {
  way.hang();
  const { user, port, database: name } = way.connection;
  const { exitCode, stderr } = await server.run(["serve"], {
    DATABASE_URL: `postgresql://${user}:secretword@127.0.0.1:${port}/${name}`,
  }).finished;
  expect([exitCode, stderr]).toEqual([
    2,
    `attestore-server: The database does not answer. Try again. DATABASE_URL names 127.0.0.1:${port}.\n`,
  ]);
});
