import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { silentLogger } from "../logging/logger.ts";
import { connectDatabase, type DatabaseAccess } from "./database.ts";
import { NewServers } from "./new-servers.ts";

let server: TestDatabase;
let opened: DatabaseAccess | null = null;
let checks: string[];
beforeAll(async () => {
  server = await openTestDatabase();
});
beforeEach(async () => {
  await opened?.close();
  await make();
  checks = [];
});
afterAll(async () => {
  await opened?.close();
  await server.close();
});

/** Ends all connections to that database, as a restore does. */
async function make(): Promise<void> {
  await server.pool.query("drop database if exists other with (force)");
  await server.pool.query("create database other");
}

function access(check: () => Promise<void> = () => Promise.resolve()): DatabaseAccess {
  const connection = { ...server.service, database: "other" };
  const servers = new NewServers(connection, async (client) => {
    const { rows } = await client.query<{ role: string }>("select current_user as role");
    checks.push(rows[0]?.role ?? "");
    await check();
  });
  opened = connectDatabase({ connection, log: silentLogger, connections: 4, servers });
  return opened;
}

const JOBS = "attestore_jobs";

test("connections to a new server wait until it is checked, which happens once", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { pool } = access(() => held);
  const done: number[] = [];
  const queries = [1, 2, 3].map(async (n) => {
    await pool.query("select 1");
    done.push(n);
  });
  await expect.poll(() => checks).toEqual([JOBS]);
  // Another connection that waits for nothing has come and gone meanwhile.
  await server.pool.query("select 1");
  expect(done).toEqual([]);
  release();
  await Promise.all(queries);
  expect([done.length, checks.length]).toEqual([3, 1]);
});

test("a check that fails fails the query, and the next query has it done again", async () => {
  const outcomes = [Promise.reject(new Error("not comparable")), Promise.resolve()];
  outcomes[0]?.catch(() => undefined);
  const { pool } = access(() => outcomes.shift() ?? Promise.resolve());
  await expect(pool.query("select 1")).rejects.toThrow("not comparable");
  await pool.query("select 1");
  await pool.query("select 1");
  expect(checks).toEqual([JOBS, JOBS]);
});

test("a database that was made anew is checked before the next query", async () => {
  const { pool } = access();
  await pool.query("select 1");
  expect(checks).toHaveLength(1);
  await make();
  await expect
    .poll(() =>
      pool.query("select 1").then(
        () => checks.length,
        () => null,
      ),
    )
    .toBe(2);
});
