import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { type DatabaseSwitch, openDatabaseSwitch } from "../../../test/database-switch.ts";
import { openSequencerPool } from "../../log/sequencer-pool.ts";
import { silentLogger } from "../logging/logger.ts";
import { connectDatabase, type DatabaseAccess } from "./database.ts";
import { asDatabaseUnavailable, DatabaseUnavailable } from "./unavailable.ts";

let server: TestDatabase;
let way: DatabaseSwitch;
beforeAll(async () => {
  server = await openTestDatabase();
  way = await openDatabaseSwitch(server.connection);
});
afterAll(async () => {
  await way.close();
  await server.close();
});

const access = (silence_ms: number, statement_ms = silence_ms): DatabaseAccess =>
  connectDatabase({
    connection: way.connection,
    log: silentLogger,
    connections: 1,
    limits: { statement_ms, silence_ms },
  });

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it should have failed",
    (error: unknown) => error,
  );

test("a connection whose server vanished fails its statement, and the next one gets a new connection", async () => {
  const opened = access(500);
  const { pool, database } = opened;
  for (const ask of [
    () => pool.query("select 1"),
    // What began on the connection that hangs does not keep the pool's one place with its rollback.
    () => database.transaction().execute((tx) => tx.selectFrom("orgs").select("id").execute()),
  ]) {
    await ask();
    way.hang();
    const error = await failure(ask());
    expect(asDatabaseUnavailable(error), String(error)).toBeInstanceOf(DatabaseUnavailable);
    way.on();
    await ask();
  }
  await opened.close();
});

test("one that nobody asks is left alone, and so is one that still sends", async () => {
  const opened = access(300, 60_000);
  const { pool } = opened;
  const pid = async () => (await pool.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
  const before = await pid();
  await server.pool.query("select pg_sleep(1)");
  expect(await pid()).toBe(before);
  // A row of 9 kB every 10 ms is more than the server keeps back for long.
  const { rowCount } = await pool.query(
    "select repeat('x', 9000), pg_sleep(0.01) from generate_series(1, 100)",
  );
  expect(rowCount).toBe(100);
  expect(await pid()).toBe(before);
  await opened.close();
});

test("the server ends a statement that takes too long, and the caller may send it again", async () => {
  const opened = access(60_000, 100);
  const { pool } = opened;
  const error = await failure(pool.query("select pg_sleep(60)"));
  expect(asDatabaseUnavailable(error)).toMatchObject({ message: expect.stringContaining("took too long") });
  await opened.close();
});

test("closing does not wait for a server that vanished", async () => {
  const opened = access(600_000);
  const { pool } = opened;
  const client = await pool.connect();
  const log = openSequencerPool(way.connection, silentLogger);
  await log.query("select 1");
  way.hang();
  const asked = failure(client.query("select 1").finally(() => client.release()));
  await Promise.all([opened.close(), log.end()]);
  expect(asDatabaseUnavailable(await asked)).toBeInstanceOf(DatabaseUnavailable);
  way.on();
});
