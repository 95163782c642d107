import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/index.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { threeAlike } from "./earlier-tests-in.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** What a restored copy of SQLite looks like, and what stands out in it. */

/** More than is read of one table: a sample has to find it. */
const ROWS = 40_000;

let place: TestPlace;
let source: SourceConfigOf<"sqlite">;

beforeEach(async () => {
  place = await makeTestPlace();
  source = {
    slug: "shop",
    engine: "sqlite",
    sandbox: "process",
    checkTimeout_s: 30,
    checks: [],
    path: join(place.dir, "shop.sqlite"),
  };
});
afterEach(() => place.remove());

function atSource(use: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(source.path);
  use(database);
  database.close();
}

async function testIt(seen: EarlierTests | null = null): Promise<RestoreTestResult> {
  const made = await backUp(place, source);
  const tested = await testBackup(place, source, made, { seen });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

test("a profile has counts and rates and no value, and a hundredth of a column encrypted in place is suspicious", async () => {
  atSource((database) =>
    database.exec(`
      create table orders (id integer primary key, at datetime, day text, note text, mail varchar(99), raw blob, price numeric,
        twice int generated always as (price * 2) stored, "o""dd" text);
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${ROWS})
        insert into orders (id, at, day, note, mail, raw, price, "o""dd") select i, 1793491200 - (i % 500) * 86400, date(1793491200 - (i % 500) * 86400, 'unixepoch'),
          'please leave parcel number ' || i || ' with the neighbours', case when i % 4 = 0 then null else 'customer' || i || '@example.com' end,
          cast('picture of chair number ' || i as blob), i % 1000, 'x' from numbers;
      create table secret (name text);
      insert into secret select 'only ' || id from orders where id <= 40;
      create table plain (k text primary key, n) without rowid;
      insert into plain select 'key ' || id, 9223372036854775807 - id from orders where id <= 60;
      create table own (name text collate nocase);
      create virtual table words using fts5(word);
      insert into words values ('only');
      create view seen as select load_extension('x') from orders;
    `),
  );
  const normal = await testIt();
  expect(normal.result, normal.reason).toBe("passed");
  const tables = normal.profile?.tables ?? [];
  expect(tables.map(({ name }) => name)).toEqual(["plain", "orders"]);
  const columns = new Map(tables[1]?.columns.map(({ name, ...rest }) => [name, rest]));
  expect(tables[1]?.rows).toBe(ROWS);
  expect([...columns.keys()].toSorted()).toEqual(["at", "day", "id", "mail", "note", 'o"dd', "price", "raw"]);
  expect(columns.get("note")).toMatchObject({ nulls: 0, random: 0 });
  expect(columns.get("note")?.length).toBeGreaterThan(40);
  expect(columns.get("mail")?.nulls).toBeGreaterThan(235);
  expect(columns.get("mail")?.nulls).toBeLessThan(265);
  expect(columns.get("raw")).toMatchObject({ random: 0 });
  expect(columns.get("at")?.newest).toBe("2026-11-01");
  expect(columns.get("day")?.newest).toBe("2026-11-01");
  expect(columns.get("price")?.distinct).toBeLessThan(100);
  expect(tables[0]).toMatchObject({ rows: 60, columns: [{ name: "k" }, { name: "n", nulls: 0 }] });
  expect(JSON.stringify(normal.profile)).not.toMatch(/neighbours|customer1|chair|only|key/);

  atSource((database) => {
    const update = database.prepare("update orders set note = ?, price = ? where id = ?");
    database.exec("begin");
    for (let id = 1; id <= ROWS; id += 100)
      update.run(randomBytes(48).toString("base64"), randomBytes(32).toString("base64"), id);
    database.exec("commit");
  });
  const told = await testIt(threeAlike("shop", normal.profile));
  expect(told.result, told.reason).toBe("passed");
  expect(told.profile?.suspicious).toEqual([
    { table: "orders", column: "note", measure: "random", now: expect.any(Number), before: 0 },
    { table: "orders", column: "price", measure: "random", now: expect.any(Number), before: 0 },
  ]);
});

test("a table that needs an application's additions to SQLite has no profile, and the others have", async () => {
  atSource((database) => {
    database.function("shouted", { deterministic: true }, (text) => String(text).toUpperCase());
    database.exec(`
      create table good (name text);
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 100)
        insert into good select 'name ' || i from numbers;
      create table needs (name text, loud text generated always as (shouted(name)) virtual);
      insert into needs select name from good;
    `);
  });
  const tested = await testIt();
  expect(tested.profile?.tables.map(({ name }) => name)).toContain("good");
  expect(tested.profile?.left_out).toBeLessThanOrEqual(1);
});
