import { readFile } from "node:fs/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import type { TestDatabase } from "../../../test/database/test-database.ts";
import { asDatabaseUnavailable, DatabaseUnavailable } from "./unavailable.ts";

let server: TestDatabase;
beforeAll(async () => {
  server = await openTestDatabase();
});
afterAll(() => server.close());

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error("it should have failed");
    },
    (error: unknown) => error,
  );
}

test("a socket that is not there and a port that refuses are unavailable", async () => {
  for (const connection of [
    { host: "/nonexistent" },
    { host: "127.0.0.1", port: 1 },
    { host: "localhost", port: 1 },
  ]) {
    const error = await failure(new pg.Client(connection).connect());
    expect(asDatabaseUnavailable(error), String(error)).toBeInstanceOf(DatabaseUnavailable);
  }
});

test("a connection that the server cuts is unavailable, in the query and after it", async () => {
  const client = await server.pool.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const sleeping = failure(client.query("select pg_sleep(30)"));
  await server.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
  expect(asDatabaseUnavailable(await sleeping)).toBeInstanceOf(DatabaseUnavailable);
  expect(asDatabaseUnavailable(await failure(client.query("select 1")))).toBeInstanceOf(DatabaseUnavailable);
  client.release(true);
});

test("a Citus coordinator whose main process was killed is unavailable", async () => {
  const said = (message: string): Promise<unknown> =>
    failure(
      server.pool.query(`do $$ begin raise exception '${message}' using errcode = 'internal_error'; end $$`),
    );
  expect(asDatabaseUnavailable(await said("postmaster was shut down, exiting"))).toBeInstanceOf(
    DatabaseUnavailable,
  );
  expect(asDatabaseUnavailable(await said("cache lookup failed"))).toBeNull();
});

test("a pool that has no connection left in time is unavailable", async () => {
  const pool = new pg.Pool({ ...server.connection, max: 1 });
  const held = await pool.connect();
  // Only now: a busy machine may take longer to connect.
  pool.options.connectionTimeoutMillis = 50;
  expect(asDatabaseUnavailable(await failure(pool.query("select 1")))).toBeInstanceOf(DatabaseUnavailable);
  held.release();
  await pool.end();
});

test("a transaction that the server ended because its client stood still is unavailable", async () => {
  const client = await server.pool.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  await client.query("set idle_in_transaction_session_timeout = 1; begin");
  await vi.waitFor(async () => {
    const found = await server.pool.query("select from pg_stat_activity where pid = $1", [rows[0]?.pid]);
    expect(found.rowCount).toBe(0);
  });
  expect(asDatabaseUnavailable(await failure(client.query("select 1")))).toBeInstanceOf(DatabaseUnavailable);
  client.release(true);
  // If a statement was on its way, it fails with the server's own code.
  const sent = await failure(
    server.pool.query("do $$ begin raise exception using errcode = '25P03'; end $$"),
  );
  expect(asDatabaseUnavailable(sent)).toMatchObject({ message: expect.stringContaining("stood still") });
});

test("a server whose disk is full is unavailable, and the message says that", async () => {
  const { pool } = server;
  // PostgreSQL's own code for it; what a file system does that really fills up is its affair.
  const full = await failure(pool.query("do $$ begin raise exception using errcode = 'disk_full'; end $$"));
  expect(asDatabaseUnavailable(full)).toMatchObject({
    code: "database_unavailable",
    message: expect.stringMatching(/disk is full/i),
  });
});

test('errors of statements, of files and of our own code are not "unavailable"', async () => {
  for (const statement of ["select 1/0", "selec", "insert into orgs (id) values (null)"]) {
    expect(asDatabaseUnavailable(await failure(server.pool.query(statement)))).toBeNull();
  }
  expect(asDatabaseUnavailable(await failure(readFile("/nonexistent")))).toBeNull();
  expect(asDatabaseUnavailable(new TypeError("a defect"))).toBeNull();
  expect(asDatabaseUnavailable("text")).toBeNull();
});
