import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { explaining, gatherPlans } from "../../../test/plans/explained.ts";
import { silentLogger } from "../logging/logger.ts";
import { connectDatabase, type DatabaseAccess } from "./database.ts";
import type { Database } from "./schema.ts";
import { removeBefore, type RemovalLimits } from "./remove-in-batches.ts";

const ROWS = 20_000;
const BATCH = 1000;
const BEFORE = "log_7";
const { signal } = new AbortController();

let world: TestDatabase;
let explained: DatabaseAccess;
const { told, stop } = gatherPlans();
beforeAll(async () => {
  world = await openTestDatabase();
  explained = connectDatabase({ connection: explaining(world.connection), log: silentLogger });
});
afterAll(async () => {
  stop();
  await explained.close();
  await world.close();
});
beforeEach(async () => {
  await world.pool.query("truncate api_logs");
});

/** In no order on the disk: then reading a removed row again costs a page. */
async function addCalls(count: number, prefix = "log_0"): Promise<void> {
  await world.pool.query(
    `insert into api_logs (id, actor_kind, method, route, path, status, duration_ms, address, request_id, created_at)
      select $1 || lpad(n::text, 25, '0'), 'console', 'RUN', 'org add', 'org add', 200, 0, 'console', 'req', now()
      from generate_series(1, $2::int) as n order by md5(n::text)`,
    [prefix, count],
  );
  await world.pool.query("analyze api_logs");
}

async function ids(): Promise<string[]> {
  const { rows } = await world.pool.query<{ id: string }>("select id from api_logs order by id");
  return rows.map(({ id }) => id);
}

const calls = { table: "api_logs", key: "id", before: BEFORE } as const;
const remove = (limits: Partial<RemovalLimits> = {}, db: Database = world.byClock) =>
  removeBefore(db, calls, { signal, batch: BATCH, ...limits });

test("the last batch costs what the first does, while somebody's snapshot holds the removed rows", async () => {
  await addCalls(ROWS);
  const holder: pg.PoolClient = await world.pool.connect();
  await holder.query("begin isolation level repeatable read");
  await holder.query("select from api_logs limit 1");
  told.length = 0;
  expect(await remove({}, explained.database)).toEqual({ removed: ROWS, isUnfinished: false });
  await holder.query("commit");
  holder.release();
  const pages = told
    .filter(({ "Query Text": text }) => text.includes("delete from"))
    .map(({ Plan: plan }) => (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0));
  expect(pages).toHaveLength(ROWS / BATCH + 1); // The last finds nothing.
  expect(pages.at(-2)).toBeLessThan(2 * (pages[0] ?? 0));
});

test("rows from the limit on stay, and none is left before it", async () => {
  await addCalls(2500);
  await addCalls(3, "log_7");
  expect(await remove()).toEqual({ removed: 2500, isUnfinished: false });
  expect(await ids()).toHaveLength(3);
});

test("equal keys are removed together, however small the batches are", async () => {
  await world.pool.query("insert into orgs (id, name, slug) values ('org_1', 'One', 'one')");
  await world.pool.query(
    `insert into notifications (id, org_id, key, type, occurred_at, data, created_at)
      select 'ntf_' || n, 'org_1', n, 'test', now(), '{}', to_timestamp(n / 7) from generate_series(1, 30) as n`,
  );
  const before = new Date(4000);
  expect(
    await removeBefore(
      world.byClock,
      { table: "notifications", key: "created_at", before },
      { signal, batch: 3 },
    ),
  ).toEqual({ removed: 27, isUnfinished: false });
  const { rows } = await world.pool.query("select from notifications");
  expect(rows).toHaveLength(3);
});

test("a run ends after its time or when the service stops, and the next one goes on", async () => {
  await addCalls(ROWS / 4);
  expect(await remove({ longestRun_ms: 0 })).toEqual({ removed: BATCH, isUnfinished: true });
  const stopping = AbortSignal.abort();
  expect(await remove({ signal: stopping })).toEqual({ removed: BATCH, isUnfinished: true });
  expect(await remove()).toEqual({ removed: ROWS / 4 - 2 * BATCH, isUnfinished: false });
});

test("two replicas that remove at once remove each row once", async () => {
  await addCalls(ROWS / 4);
  const runs = await Promise.all([remove(), remove()]);
  expect(runs.map(({ isUnfinished }) => isUnfinished)).toEqual([false, false]);
  expect(runs.reduce((sum, { removed }) => sum + removed, 0)).toBe(ROWS / 4);
  expect(await ids()).toEqual([]);
});
