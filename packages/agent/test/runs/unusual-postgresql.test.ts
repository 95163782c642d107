import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What real databases hold and few tests do comes back, and is compared. */

let place: TestPlace;
let server: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir, "postgres");
  server.sql(`
    create domain positive as int check (value > 0);
    create domain names as text[] check (array_length(value, 1) < 10);
    create type pair as (a positive, b text);
    create type span as range (subtype = float8);
    create domain spans as span[];
    create table odd (id int primary key, d positive[], n names, nn names[], p pair, pp pair[], s span, ss spans, m datemultirange, j jsonpath, x xml,
      l lseg, bits bit varying(9), c "char", o oid, t tid, lsn pg_lsn, snap pg_snapshot, nm name, iv interval(0), tz timetz);
    insert into odd select i, array[i, null]::positive[], array['a', 'b', null], array[array['x']::names], '(1,"b("",)")', array['(2,)'::pair], span(i, i + 1), array[span(1, 2)],
      '{[2020-01-01,2020-02-01)}', '$.a', '<a/>', '[(0,0),(1,1)]', B'101', 'x', 5, '(0,1)', '0/16B3748', '10:20:10,14', 'nm', '1 year', '04:05+09:30' from generate_series(1, 50) i;
    create table large (id int, text text, bytes bytea);
    alter table large alter text set storage external;
    insert into large select i, repeat(md5(i::text), 400000), decode(repeat(md5(i::text), 300000), 'hex') from generate_series(1, 3) i;
    -- Partitions whose columns are in another order, one of them with a dropped column.
    create table tree (a int, b text, c date) partition by range (a);
    create table low (c date, gone int, b text, a int not null); alter table low drop gone;
    alter table tree attach partition low for values from (0) to (100);
    create table high (b text, a int, c date) partition by list (b);
    create table high_x (c date, b text, a int);
    alter table high attach partition high_x for values in ('x', 'y');
    alter table tree attach partition high for values from (100) to (200);
    insert into tree select i, 'x', '2020-01-01'::date + i from generate_series(0, 199) i;
    create index on tree (a, b); create index on tree (c) where b = 'x';
    create table hidden (id int, owner text); insert into hidden select i, 'somebody' from generate_series(1, 20) i;
    alter table hidden enable row level security; create policy own on hidden using (owner = current_user);
    create unlogged table fast as select generate_series(1, 50) as id;
    create collation de (provider = icu, locale = 'de-DE');
    create table sorted (a text collate de primary key); insert into sorted values ('ä'), ('z'), ('a');`);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const TABLES = 7;

test("domains over arrays, values of several MB, and partitions in another order come back and are compared", async () => {
  const made = await backUp(place, server.source);
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:content")).toMatchObject({
    observed: { tables: TABLES, differing: 0, not_compared: 0 },
  });
});

test("a source whose collations are of another version than its system's comes back and is compared", async () => {
  server.sql(`update pg_collation set collversion = '1.2.3' where collname = 'de';
    update pg_database set datcollversion = '1.0' where datname = current_database()`);
  const made = await backUp(place, server.source);
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:content")).toMatchObject({
    observed: { tables: TABLES, differing: 0, not_compared: 0 },
  });
});

test("a role from whom a policy hides rows makes no backup; one that sees all rows makes one of all", async () => {
  server.sql(`create role app login; grant pg_read_all_data to app;
    create role all_rows login bypassrls; grant pg_read_all_data to all_rows`);
  const as = (user: string) => ({
    ...server.source,
    connection: { kind: "url", url: server.url(user, "") } as const,
  });
  await expect(backUp(place, as("app"))).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringContaining("row-level security") as string,
  });
  const { sourceMetadata } = await backUp(place, as("all_rows"));
  expect(sourceMetadata).toMatchObject({
    tables: expect.arrayContaining([expect.objectContaining({ name: "public.hidden", rows: 20 })]) as unknown,
  });
});
