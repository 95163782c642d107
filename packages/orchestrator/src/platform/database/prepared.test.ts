import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import pg from "pg";
import { onConnect } from "./on-connect.ts";
import { preparing, runPrepared } from "./prepared.ts";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const DOUBLE = { name: "test_double", text: "select $1::int * 2 as doubled" };

test("a prepared query is parsed once per connection; other queries are not kept", async () => {
  await database.database.transaction().execute(async (tx) => {
    for (const n of [1, 2, 3])
      expect(await runPrepared<{ doubled: number }>(tx, DOUBLE, [n])).toEqual([{ doubled: n * 2 }]);
    await tx.selectFrom("orgs").select("id").where("id", "=", "x").execute();
    const { rows } = await sql<{ name: string; runs: number }>`
      select name, (generic_plans + custom_plans)::int as runs from pg_prepared_statements`.execute(tx);
    expect(rows).toEqual([{ name: DOUBLE.name, runs: 3 }]);
  });
});

test("an error in a prepared query rolls the transaction back and leaves the connection usable", async () => {
  const broken = { name: "test_broken", text: "select 1 / $1::int as n" };
  const run = (n: number) =>
    database.database.transaction().execute((tx) => runPrepared<{ n: number }>(tx, broken, [n]));
  expect(await run(1)).toEqual([{ n: 1 }]);
  await expect(run(0)).rejects.toMatchObject({ code: "22012" });
  expect(await run(1)).toEqual([{ n: 1 }]);
});

test("a connection that breaks as it begins takes no place in the pool", async () => {
  let breaks = true;
  let begun = 0;
  const pool = new pg.Pool({
    ...database.connection,
    max: 1,
    onConnect: onConnect(async (client) => {
      if (breaks) await client.query("select pg_terminate_backend(pg_backend_pid())");
      begun += (await client.query<{ n: number }>("select 1 as n")).rows.length;
    }),
  });
  pool.on("error", () => undefined);
  const prepared = preparing(pool);
  for (let attempt = 0; attempt < 3; attempt++) await expect(prepared.connect()).rejects.toThrow();
  breaks = false;
  for (let use = 0; use < 2; use++) (await prepared.connect()).release();
  expect(begun).toBe(1);
  await pool.end();
});
