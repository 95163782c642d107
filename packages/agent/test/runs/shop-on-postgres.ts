import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp } from "./back-and-test.ts";
import { childrenNamed, makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

export const never = new AbortController().signal;
export const ROWS = 20_000;

export let place: TestPlace;
export let server: SourcePostgres;
export let backup: MadeBackup;

/** For a file of tests: a PostgreSQL whose database is a shop's, and a backup of it. */
export function useShopOnPostgres(): void {
  beforeAll(async () => {
    place = await makeTestPlace();
    server = await startSourcePostgres(place.dir);
    server.sql(`
      create role seller; create role limited login; create role owner login password 'hush-hush';
      create type mood as enum ('low', 'high');
      create domain positive as numeric(10, 2) not null check (value > 0);
      create schema "Sales";
      create table orders (id bigint generated always as identity primary key, status varchar(20) not null check (status in ('paid', 'shipped')),
        price positive default 1.5, mood mood default 'low', placed_at timestamptz not null default '2026-01-02 03:04:05+02', note text,
        doubled numeric generated always as (price * 2) stored);
      insert into orders (status, price, note) select 'paid', i, 'secret note ' || i from generate_series(1, ${ROWS}) i;
      create index orders_late on orders (placed_at desc) where status in ('paid', 'shipped');
      create table "Sales"."we ""ird:name" (a int references orders (id), b jsonb, c text[] default array['x', 'y']);
      create table events (at date, n int) partition by range (at);
      create table events_2026 partition of events for values from ('2026-01-01') to ('2027-01-01');
      insert into events values ('2026-05-05', 1), ('2026-06-06', 2);
      alter table orders enable row level security;
      create policy sellers on orders to seller using (true);
      create view paid as select id, price from orders where status = 'paid';
      create materialized view stale as select count(*) as n from orders;
      create function twice(n int) returns int language sql as 'select 2 * n';
      select lo_from_bytea(0, 'large object');
    `);
    backup = await backUp(place, server.source);
  });

  afterAll(async () => {
    await server?.close();
    await place?.remove();
  });
}

/** No file, and no program, of a run. Before the first restore there is no `scratch` either. */
export function nothingLeft(): void {
  expect(existsSync(place.scratch) ? readdirSync(place.scratch) : []).toEqual([]);
  for (const name of ["psql", "pg_dump", "pg_restore"]) expect(childrenNamed(name), name).toEqual([]);
}
