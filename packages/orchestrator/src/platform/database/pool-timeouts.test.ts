import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { type DatabaseSwitch, openDatabaseSwitch } from "../../../test/database-switch.ts";
import { openSequencerPool } from "../../log/sequencer/sequencer-pool.ts";
import { RecordingLogger } from "../../../test/recording-logger.ts";
import { silentLogger } from "../logging/logger.ts";
import { withClient } from "./client.ts";
import { JOB_TIMEOUTS, LOG_TIMEOUTS, REQUEST_TIMEOUTS } from "./pool-timeouts.ts";
import { connectDatabase, type DatabaseAccess } from "./database.ts";
import { asDatabaseUnavailable, DatabaseUnavailable } from "./unavailable.ts";
import { watched } from "./watched.ts";

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

const access = (
  silence_ms: number,
  statement_ms = silence_ms,
  idle_ms = 60_000,
  connections = 1,
): DatabaseAccess =>
  connectDatabase({
    connection: way.connection,
    log: silentLogger,
    connections,
    timeouts: { statement_ms, silence_ms, idle_ms },
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

test("a connection that was idle for longer than a statement may take is given up as well", async () => {
  const opened = access(500);
  const { pool } = opened;
  await pool.query("select 1");
  await server.pool.query("select pg_sleep(1)");
  await pool.query("select 1");
  way.hang();
  expect(asDatabaseUnavailable(await failure(pool.query("select 1")))).toBeInstanceOf(DatabaseUnavailable);
  way.on();
  await opened.close();
});

test("with one connection whose server vanished, the idle ones of that time are given up", async () => {
  const opened = access(500, 500, 60_000, 3);
  const { pool } = opened;
  await Promise.all([1, 2, 3].map(() => pool.query("select pg_sleep(0.1)")));
  expect(pool.idleCount).toBe(3);
  way.hang();
  expect(asDatabaseUnavailable(await failure(pool.query("select 1")))).toBeInstanceOf(DatabaseUnavailable);
  way.on();
  await pool.query("select 1");
  await opened.close();
});

test("an idle connection stays open, and so does one that still receives", async () => {
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

test("locks of a client that vanished within a transaction are released after a while", async () => {
  const vanished = access(60_000, 60_000, 500);
  const client = await vanished.pool.connect();
  await server.pool.query("create table logs_like (n integer); insert into logs_like values (1)");
  await client.query("begin");
  await client.query("select from logs_like for update");
  way.hang();
  await server.pool.query("update logs_like set n = 2");
  way.on();
  const others = access(60_000);
  expect((await others.pool.query("select n from logs_like")).rows).toEqual([{ n: 2 }]);
  client.release(true);
  await Promise.all([vanished.close(), others.close()]);
});

test("every pool of the service has the server end transactions that wait for their client", async () => {
  const shown = async (pool: pg.Pool): Promise<unknown> => {
    const names = ["idle_in_transaction_session_timeout", "statement_timeout", "lock_timeout"];
    const { rows } = await pool.query("select name, setting from pg_settings where name = any($1)", [names]);
    return Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]));
  };
  for (const timeouts of [REQUEST_TIMEOUTS, JOB_TIMEOUTS]) {
    const opened = connectDatabase({ connection: server.connection, log: silentLogger, timeouts });
    expect(await shown(opened.pool)).toEqual({
      idle_in_transaction_session_timeout: timeouts.idle_ms,
      statement_timeout: timeouts.statement_ms,
      lock_timeout: 0,
    });
    await opened.close();
  }
  const log = openSequencerPool(server.connection, silentLogger);
  expect(await shown(log)).toEqual({
    idle_in_transaction_session_timeout: LOG_TIMEOUTS.idle_ms,
    statement_timeout: LOG_TIMEOUTS.statement_ms,
    lock_timeout: 5_000,
  });
  await log.end();
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

test("closing does not wait for work that never gives its connection back", async () => {
  const opened = access(600_000);
  const client = await opened.pool.connect();
  await opened.close();
  expect(asDatabaseUnavailable(await failure(client.query("select 1")))).toBeInstanceOf(DatabaseUnavailable);
});

test("closing leaves no socket of a server that vanished, not even of connections that were given up", async () => {
  const sockets: Socket[] = [];
  const listen = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.once("connect", () => {
      if (socket.remotePort === way.connection.port) sockets.push(socket);
    });
  };
  subscribe("net.client.socket", listen);
  const opened = access(600_000);
  const { pool } = opened;
  pool.options.idleTimeoutMillis = 100;
  await pool.query("select 1");
  unsubscribe("net.client.socket", listen);
  way.hang();
  await vi.waitFor(() => expect(pool.totalCount).toBe(0));
  await opened.close();
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  way.on();
});

test("long work says which connections it waits for", async () => {
  const log = new RecordingLogger();
  const holder = await server.pool.connect();
  await holder.query("begin; select pg_advisory_xact_lock(7)");
  await withClient(server.connection, { name: "test", statement_ms: 0 }, async (client) => {
    const watch = { connection: server.connection, log, what: "the test", every_ms: 20 };
    const locked = watched(client, watch, () => client.query("select pg_advisory_lock(7)"));
    await vi.waitFor(() => expect(log.lines).not.toEqual([]));
    await holder.query("commit");
    await locked;
  });
  holder.release();
  expect(log.lines[0]).toMatchObject({
    message: "waiting for other connections",
    fields: {
      what: "the test",
      waits_for: [expect.stringMatching(/^process \d+ \(attestore-server\)$/)],
    },
  });
});

test("long work whose server vanished is given up", async () => {
  const { connection } = way;
  const given_up = withClient(connection, { name: "test", statement_ms: 0 }, (client) =>
    watched(
      client,
      { connection, log: silentLogger, what: "the test", every_ms: 10, answer_ms: 200 },
      async () => {
        way.hang();
        await client.query("select pg_sleep(60)");
      },
    ),
  );
  expect(asDatabaseUnavailable(await failure(given_up))).toBeInstanceOf(DatabaseUnavailable);
  way.on();
});
