import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import type { TestDatabase } from "../../../test/database/test-database.ts";

let test_database: TestDatabase;
beforeAll(async () => {
  test_database = await openTestDatabase();
});
afterAll(() => test_database.close());

test("int8 is a number, timestamptz a Date, date and numeric text, jsonb parsed, bytea a Buffer", async () => {
  const { rows } = await test_database.pool.query(
    `select 9007199254740991::int8 as int8, '2026-01-02T03:04:05.678Z'::timestamptz as at, '2026-01-02'::date as day,
      1.50::numeric as numeric, '{"a":[1]}'::jsonb as jsonb, '\\x00ff'::bytea as bytes, count(*) as n`,
  );
  expect(rows[0]).toEqual({
    int8: 9007199254740991,
    at: new Date("2026-01-02T03:04:05.678Z"),
    day: "2026-01-02",
    numeric: "1.50",
    jsonb: { a: [1] },
    bytes: Buffer.from([0, 255]),
    n: 1,
  });
});

test("an int8 that a number cannot hold is an error, not a rounded value", async () => {
  await expect(test_database.pool.query("select 9007199254740993::int8")).rejects.toThrow(RangeError);
  await expect(test_database.pool.query("select '-9223372036854775808'::int8")).rejects.toThrow(RangeError);
  expect((await test_database.pool.query("select 1 as still_works")).rows).toEqual([{ still_works: 1 }]);
});

test("Kysely uses the same connections and parsers", async () => {
  const result = await sql<{ n: number }>`select 5::int8 as n`.execute(test_database.database);
  expect(result.rows).toEqual([{ n: 5 }]);
});

test("plans are not compiled", async () => {
  const { rows } = await sql<{ jit: string }>`show jit`.execute(test_database.database);
  expect(rows).toEqual([{ jit: "off" }]);
});
