import { readdirSync } from "node:fs";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { afterAll, beforeAll, expect } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { childrenNamed, makeTestPlace, reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const WEIRD = `"we ""ird:\\! touch /tmp/no; é"`;

const TABLES = `
  alter database postgres set timezone = 'Asia/Kathmandu';
  alter database postgres set bytea_output = 'escape';
  create table orders (id int primary key, at timestamptz, amount float8, raw bytea, note text, twice int generated always as (id * 2) stored);
  insert into orders select i, '2026-03-29 00:30+01'::timestamptz + i * interval '1 hour', i / 3.0, decode(md5(i::text), 'hex'),
    case when i = 4711 then 'the value that is FLIPPED' else repeat('x', (i * 7919) % 500) end from generate_series(1, 20000) i;
  -- Short rows in the room that longer ones left: in another order than a plain COPY would put them.
  delete from orders where id % 3 = 0;
  update orders set note = repeat('y', (id * 104729) % 600) where id % 5 = 0 and id <> 4711;
  create schema ${WEIRD};
  create table ${WEIRD}.${WEIRD} (${WEIRD} text, "select" jsonb);
  insert into ${WEIRD}.${WEIRD} values (E'a\\nb\\t\\\\.\\n\\\\.', '{"a": 1}'), (null, null);
  -- Everything that could make a copy print its rows in another way or order, and must not.
  create type mood as enum ('ok', 'not ok');
  create domain positive as int check (value > 0);
  create table hard (gone int, id int generated always as identity, at interval, span int4range, words text[], price numeric, f real, tree xml,
    found tsvector, feels mood, p positive, large text, class regclass) with (fillfactor = 40);
  insert into hard (gone, at, span, words, price, f, tree, found, feels, p, large, class)
    select i, i * interval '1 month 3 days 04:05:06.789', int4range(i, i + 9), array['a', null, 'b,' || i], i / 7.0, i / 3.0, '<a>é</a>', to_tsvector('simple', 'word ' || i),
      'not ok', i, repeat(md5(i::text), (i * 37) % 700), 'orders'::regclass from generate_series(1, 2000) i;
  update hard set price = 'NaN', f = '-Infinity' where id % 4 = 0;
  alter table hard drop column gone;
  alter table hard add column later int default 7;
  alter table hard enable row level security;
  alter table hard force row level security;
  create function stop() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
  create trigger stop before insert on hard for each row execute function stop();
  cluster orders using orders_pkey;
  update orders set amount = -0.0 where id % 7 = 0;
  create table empty (id int);
  create table nothing (); insert into nothing default values;
  create unlogged table fast (id int); insert into fast values (1);
  create table events (at date, n int) partition by range (at);
  create table events_2026 partition of events for values from ('2026-01-01') to ('2027-01-01');
  insert into events values ('2026-05-05', 1);
  create table child (extra text) inherits (empty); insert into child values (1, 'inherited');
  create materialized view totals as select count(*) from orders;
  select lo_from_bytea(0, 'large object'), lo_create(0), lo_from_bytea(0, convert_to(repeat('0123456789abcdef', 10000) || 'the object that is WHOLE', 'UTF8'));
  -- One with a hole.
  select lo_put(lo_create(0), 1000000, 'behind');
`;

/** A server whose database postgres has tables, rows and large objects of every kind. */
export async function startContentSource({ dir }: TestPlace): Promise<SourcePostgres> {
  const server = await startSourcePostgres(dir);
  server.sql(TABLES);
  return server;
}

/** The same backup with a dump in which some bytes are others. */
export async function changed(
  place: TestPlace,
  made: MadeBackup,
  from: string,
  to: string,
): Promise<Resealed> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const dump = Buffer.concat(pieces);
  const at = dump.lastIndexOf(from);
  expect(at).toBeGreaterThan(0);
  dump.write(to, at, "latin1");
  return reseal(place, dump);
}

export const contentOf = (tested: RestoreTestResult, id = "inferred:content") =>
  tested.checks.find((check) => check.id === id);

/** A restore test that has to leave no file and no process. */
export async function testContent(
  place: TestPlace,
  server: SourcePostgres,
  made: MadeBackup,
  {
    instead = made,
    without = [],
    source = server.source,
  }: { instead?: Resealed; without?: readonly string[]; source?: SourceConfigOf<"postgresql"> },
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, source, made, { instead, without });
  expect(readdirSync(place.scratch)).toEqual([]);
  for (const name of ["psql", "pg_dump", "pg_restore"]) expect(childrenNamed(name), name).toEqual([]);
  return tested;
}

export let place: TestPlace;
export let server: SourcePostgres;
/** Of the source as it is at the beginning. */
export let backup: MadeBackup;

/** For a file's tests: one source and one backup of it. */
export function useContentSource(): void {
  beforeAll(async () => {
    place = await makeTestPlace();
    server = await startContentSource(place);
    backup = await back();
  });
  afterAll(async () => {
    await server?.close();
    await place?.remove();
  });
}

export const back = (more: Partial<SourceConfigOf<"postgresql">> = {}): Promise<MadeBackup> =>
  backUp(place, { ...server.source, ...more });

export const testIt = (
  made: MadeBackup,
  more: Parameters<typeof testContent>[3] = {},
): Promise<RestoreTestResult> => testContent(place, server, made, more);
