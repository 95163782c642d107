import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exactObjectsMetadata, objectsMetadata } from "../../src/engines/content/tagged-objects.ts";
import {
  EARLIER_OBJECTS,
  earlierObjects,
  WRITES_OPTIONS,
} from "../../src/engines/postgresql/content/earlier-objects.ts";
import { lookIntoArchive } from "../../src/engines/postgresql/archive-start.ts";
import { MORE_KINDS } from "../../src/engines/postgresql/content/more-objects.ts";
import { databaseObjects, RESTORED_OBJECTS } from "../../src/engines/postgresql/content/objects.ts";
import { LIST_PRIVILEGES, privilegesOf } from "../../src/engines/postgresql/privileges/list-privileges.ts";
import { tryPrivileges } from "../../src/engines/postgresql/privileges/try-privileges.ts";
import { PsqlSession } from "../../src/engines/postgresql/psql-session.ts";
import { PRINTING } from "../../src/engines/postgresql/schema.ts";
import type { ScratchServer } from "../../src/engines/scratch-server.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What came back is what went in: everything of a PostgreSQL database besides rows. */

const never = new AbortController().signal;

let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create role superior superuser; create role app; create role reader; create role "an ""other""";
    create database shop template template0;
    create database other template template0;
    \\connect other
    create table single (id serial, v varchar default 'x' check (v in ('x', 'y')));
    create index of_three on single (id) where v in ('x', 'y') and id between 1 and 3;
    insert into single default values;
    alter database other set timezone to 'Pacific/Auckland';
    alter database other set datestyle to 'German';
    alter database other set search_path to public;
    create table visits (at timestamptz);
    insert into visits select '2026-01-01'::timestamptz + n * interval '5 hours' from generate_series(1, 50) n;
    create function as_set_up(timestamptz) returns text immutable language sql
      as $$ select concat_ws(' ', $1, current_setting('search_path'), current_schema()) $$;
    create index by_settings on visits (as_set_up(at));
    \\connect shop
    ${EVERYTHING}
  `);
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

/** Expressions whose parentheses, casts and spaces are what they mean. */
const LOGIC = `
  create table s.logic (a bool, b bool, c bool, v varchar(10) default 'a (b) ::text', k text generated always as (v || ' ( )') stored,
    constraint either check ((a or b) and c), constraint apart check (v <> 'no (such) one'));
  create index either_part on s.logic (v) where (a or b) and c;
  create policy either_row on s.logic using ((a or b) and c);
  create view s.either_of as select a from s.logic where (a or b) and c;
  create view s.as_text as select (a::text || b::text) as t from s.logic;
  create domain s.spaced as text default 'a  b' constraint spaced_out check (value <> 'a  b::text');
  create function s.spoken(t text default 'two  words') returns text language sql as 'select t';
  create trigger either_way before update on s.logic for each row when ((new.a or new.b) and new.c) execute function s.trg('a (b)');
  create rule either_rule as on update to s.either_of where (old.a or new.a) and new.a do instead nothing;
  create statistics s.of_both on (v || ' '), (a and b) from s.logic;
`;

/** Of each rule in printed-rules.ts, and what made other differences in a copy. */
const PRINTED_OTHERWISE = `
  create view s.listed as select 'PUBLIC' as who union all select 'a'::varchar union all select v from s.t where v in ('x', 'y') and n between 1 and 2 and m = 'a';
  create view s.natural as select t.n from s.t natural left join (select 1 as nothing_common) q;
  create view s.one_of as select id from s.t where 1 in (id, n, 7) and v in ('q', 'r');
  create domain s.short as varchar(5) default 'a' check (value in ('a', 'b'));
  set search_path = s; create sequence of_domain; create domain s.counted as int default nextval('of_domain'); reset search_path;
  create table s.parents (id int, d date check (d > '2020-01-01'), primary key (id, d)) partition by range (d);
  create table s.parents_2 partition of s.parents for values from ('2026-01-01') to ('2027-01-01');
  create table s.parents_1 partition of s.parents for values from ('2025-01-01') to ('2026-01-01');
  create table s.to_parents (id int, d date, foreign key (id, d) references s.parents) partition by hash (id);
  create table s.to_parents_1 partition of s.to_parents for values with (modulus 2, remainder 0);
  create table s.to_parents_0 (id int, d date, foreign key (id, d) references s.parents);
  alter table s.to_parents attach partition s.to_parents_0 for values with (modulus 2, remainder 1);
  create function s.atomic(v varchar) returns bool language sql immutable begin atomic select v in ('a', 'b'); end;
`;

/** A copy of a database has none of them. */
const SUBSCRIPTIONS = `
  set client_min_messages = error;
  create subscription fetches connection 'host=192.0.2.1 password=never-to-be-seen dbname=y' publication a, "B c"
    with (connect = false, slot_name = none, streaming, binary, two_phase, disable_on_error, synchronous_commit = local);
  create subscription plain connection 'host=192.0.2.1' publication a with (connect = false, slot_name = 'a_slot');
  reset client_min_messages; comment on subscription plain is 'of us';
`;

/** What a test does not create in its copy. A label's provider need not be there to be dumped. */
const UNRESTORED = `
  create publication part for table s.t (id, v, n) where (n > 1 or v like 'x %'), s.child with (publish = 'insert, update');
  create publication "All of it" for all tables with (publish = '', publish_via_partition_root);
  create publication of_schema for tables in schema s, owned;
  alter publication of_schema owner to attestore; comment on publication part is 'it''s';
  ${SUBSCRIPTIONS}
  create function s.told() returns event_trigger language plpgsql as 'begin raise exception ''it fired''; end';
  create function labelled(class regclass, oid oid, sub int) returns void language sql as $$ insert into pg_seclabel values (oid, class, sub, 'my "own"', 'it''s secret') $$;
  select labelled('pg_class', 's.t'::regclass, 0), labelled('pg_class', 's.t'::regclass, 2), labelled('pg_class', 's.v'::regclass, 0), labelled('pg_class', 's.mv'::regclass, 0),
    labelled('pg_class', 's.seq'::regclass, 0), labelled('pg_namespace', 's'::regnamespace, 0), labelled('pg_namespace', 'public'::regnamespace, 0), labelled('pg_proc', 's.f(int, varchar)'::regprocedure, 0),
    labelled('pg_proc', 's.sum2(int)'::regprocedure, 0), labelled('pg_proc', 's.pr()'::regprocedure, 0), labelled('pg_type', 'pos'::regtype, 0), labelled('pg_type', 'mood'::regtype, 0),
    labelled('pg_largeobject', 4711, 0), labelled('pg_publication', (select oid from pg_publication where pubname = 'part'), 0);
  drop function labelled;
  create event trigger at_end on ddl_command_end when tag in ('CREATE TABLE', 'DROP TABLE') execute function s.told();
  create event trigger "On drop" on sql_drop execute function s.told(); alter event trigger "On drop" disable;
  create event trigger always_on on ddl_command_start when tag in ('DROP VIEW') execute function s.told(); alter event trigger always_on enable always; comment on event trigger at_end is 'tells';
`;

/** Something of each kind, with what a restore prints in another way. */
const EVERYTHING = `
  create extension pg_trgm;
  create schema s;
  create type mood as enum ('a', 'b');
  create type pair as (x int, y text);
  create type floats as range (subtype = float8);
  create domain pos as int constraint above check (value > 0);
  create table s.t (id serial primary key, v varchar(10) check (v in ('x', 'y')), n int default 1 + 2, at timestamptz default now(), m mood, p pair, big text,
    twice int generated always as (n * 2) stored, unique (v, n));
  insert into s.t (v, n) values ('x', 5), ('y', 6);
  alter table s.t alter column big set storage external, alter column n set statistics 500, alter column n set (n_distinct = 5);
  alter table s.t replica identity full;
  alter table s.t enable row level security;
  alter table s.t force row level security;
  alter table s.t set (fillfactor = 70, toast.autovacuum_enabled = false);
  create index t_trgm on s.t using gin (big gin_trgm_ops);
  create index t_part on s.t (lower(v)) where n between 3 and 10 and v like 'a%';
  cluster s.t using t_pkey;
  create policy seen on s.t for select to app using (n > 1 and (v = 'x' or v = 'y'));
  create policy strict on s.t as restrictive with check (n is not null);
  create function s.f(a int default 3, b varchar default 'x') returns int language plpgsql security definer set search_path = s as $$ begin return (a + (2)); end $$;
  create procedure s.pr() language sql as 'select 1';
  create aggregate s.sum2(int) (sfunc = int4pl, stype = int, initcond = '0');
  create function s.trg() returns trigger language plpgsql as $$ begin return new; end $$;
  create trigger whenever before insert or update of v on s.t for each row when (new.v <> 'zz' and new.n in (1, 2)) execute function s.trg();
  alter table s.t disable trigger whenever;
  create trigger after_all after delete on s.t for each statement execute function s.trg();
  create table s.child (t int references s.t deferrable);
  alter table s.child add check (t > 0) not valid;
  create table s.inherits (more int) inherits (s.child);
  create view s.v with (security_barrier) as select t.id, case when v in ('x', 'y') then 'in' else v end as c from s.t where at > now() - interval '3 days' order by 1 limit 5;
  create view s.vv as with recursive q(n) as (values (1) union all select n + 1 from q where n < 5) select sum(n) over (partition by n % 2 order by n) as x, n::varchar(4) as vc from q;
  create materialized view s.mv as select count(*), v from s.t group by v;
  create unique index on s.mv (v);
  create rule gone as on delete to s.v do instead delete from s.t where id = old.id;
  create sequence s.seq start 5 increment 3 cycle;
  create sequence s."it's ""never"" called";
  select nextval('s.seq'), nextval('s.seq');
  create statistics s.st (dependencies, mcv) on v, n from s.t;
  create table s.pt (id int, d date, primary key (id, d)) partition by range (d);
  create table s.p1 partition of s.pt for values from ('2026-01-01') to ('2027-01-01');
  create index on s.pt (d);
  create trigger on_parts after insert on s.pt for each row execute function s.trg();
  create table s.to_parts (id int, d date, foreign key (id, d) references s.pt);
  create operator s.=== (leftarg = int, rightarg = int, function = int4eq);
  create cast (pair as text) with inout;
  create collation s.de (provider = icu, locale = 'de-DE');
  create text search configuration s.ts (copy = simple);
  comment on table s.t is 'a table';
  comment on column s.t.v is 'a column';
  comment on function s.f is 'a function';
  comment on constraint above on domain pos is 'a constraint';
  select lo_from_bytea(4711, 'large');
  alter large object 4711 owner to app; grant select on large object 4711 to reader; alter schema public owner to app;
  grant select on s.t to app;
  create schema owned authorization app;
  create table owned.t (id serial primary key, note text);
  create view owned.v as select * from owned.t;
  create function owned.f() returns int language sql as 'select 1';
  alter table owned.t owner to app; alter view owned.v owner to app; alter function owned.f() owner to "an ""other""";
  alter type mood owner to app; alter domain pos owner to app; alter collation s.de owner to app; alter statistics s.st owner to app;
  alter text search configuration s.ts owner to app; alter operator s.=== (int, int) owner to app;
  grant select, update on owned.t to reader with grant option; grant insert (note) on owned.t to reader; revoke delete on owned.t from app;
  grant usage on schema owned to reader; set session authorization reader; grant select on owned.t to "an ""other"""; reset session authorization;
  revoke execute on function owned.f() from public; revoke usage on type mood from public;
  revoke all on schema public from public; grant usage on sequence owned.t_id_seq to reader;
  alter default privileges for role app in schema owned grant select on tables to reader;
  alter default privileges for role app revoke execute on functions from public;
  ${LOGIC}
  ${PRINTED_OTHERWISE}
  ${UNRESTORED}
`;

function back(more: Partial<SourceConfigOf<"postgresql">> = {}, database = "shop"): Promise<MadeBackup> {
  const url = server.url(server.environment["PGUSER"] ?? "", "", database);
  return backUp(place, { ...server.source, connection: { kind: "url", url }, ...more });
}

function testIt(made: MadeBackup, instead: Resealed = made): Promise<RestoreTestResult> {
  return testBackup(place, server.source, made, { instead });
}

const objectsOf = (tested: RestoreTestResult, id = "inferred:objects") =>
  tested.checks.find((check) => check.id === id);

/**
 * The backup with another dump in it: of a copy of the source in which `sql` was run. A mistake of
 * whoever dumps or stores it would look so.
 */
async function dumpedAfter(sql: string, database = "shop"): Promise<Resealed> {
  server.sql(`create database damaged template ${database};
    \\connect damaged
    ${database === "shop" ? SUBSCRIPTIONS : ""}
    ${sql}`);
  try {
    const dump = execFileSync(join(server.bin, "pg_dump"), ["--format=custom", "--compress=0", "damaged"], {
      env: { ...process.env, ...server.environment, PGTZ: "UTC" },
      maxBuffer: 64 << 20,
    });
    return await reseal(place, dump);
  } finally {
    server.sql(`\\connect damaged
      do $$ begin execute (select coalesce(string_agg(format('alter subscription %1$I set (slot_name = none); drop subscription %1$I;', subname), ''), 'select')
        from pg_subscription join pg_database d on d.oid = subdbid where datname = 'damaged'); end $$;
      \\connect postgres
      drop database damaged`);
  }
}

test("with something of every kind, all of it is compared and the test passes", async () => {
  const { content } = backup.sourceMetadata as unknown as {
    content: {
      objects: { total: number; sha256: string; kinds: Record<string, { count: number }> };
      privileges: { total: number };
      unrestored: { total: number; kinds: Record<string, { count: number }> };
    };
  };
  expect(Object.keys(content.objects.kinds).toSorted()).toEqual(
    [
      "aggregate",
      "cast",
      "collation",
      "column",
      "column_order",
      "comment",
      "constraint",
      "extension",
      "function",
      "index",
      "large_objects",
      "materialized_view",
      "operator",
      "policy",
      "range",
      "rule",
      "sequence",
      "sequence_start",
      "sequence_value",
      "statistics",
      "table",
      "text_search",
      "trigger",
      "type",
      "view",
    ].toSorted(),
  );
  const tested = await testIt(backup);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(objectsOf(tested)).toMatchObject({
    result: "passed",
    observed: {
      objects: content.objects.total,
      found: content.objects.total,
      differing: 0,
      sha256: content.objects.sha256,
      signed_sha256: content.objects.sha256,
    },
  });
  expect(objectsOf(tested)?.observed["not_looked_at"]).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain(`; ${content.objects.total} objects compared`);
  expect(objectsOf(tested, "inferred:privileges")).toMatchObject({
    result: "passed",
    observed: { objects: content.privileges.total, found: content.privileges.total, differing: 0 },
  });
  expect(comparedContentText(tested.checks)).toContain(
    `; owners and grants of ${content.privileges.total} objects compared`,
  );
});

test("objects that a test does not create in its copy are compared with the dump", async () => {
  const { content } = backup.sourceMetadata as unknown as {
    content: { unrestored: { total: number; kinds: Record<string, { count: number }> } };
  };
  const { kinds, total } = content.unrestored;
  expect(Object.fromEntries(Object.entries(kinds).map(([kind, { count }]) => [kind, count]))).toEqual({
    publication: 3,
    publication_table: 3,
    publication_schema: 2,
    subscription: 2,
    event_trigger: 3,
    security_label: 13,
    owner: 8,
    comment: 3,
  });
  const tested = await testIt(backup);
  expect(objectsOf(tested, "inferred:unrestored")).toMatchObject({
    result: "passed",
    observed: { objects: total, found: total, differing: 0 },
  });
  expect(comparedContentText(tested.checks)).toContain(
    `; ${total} objects that a test does not restore compared in the dump`,
  );
  expect(JSON.stringify([backup.sourceMetadata, tested])).not.toMatch(/never-to-be-seen|192\.0\.2\.1/);
});

test.each([
  {
    "alter publication part set (publish = 'insert')": "publication part (other)",
    "alter publication part set table s.t (id, v, n) where (n > 1 and v like 'x %'), s.child":
      "publication table part s.t (other)",
    'drop publication "All of it"': "publication All of it (missing)",
    "alter publication of_schema drop tables in schema owned": "publication schema of_schema owned (missing)",
    "alter subscription fetches set (binary = false)": "subscription fetches (other)",
    "alter subscription fetches owner to superior": "owner subscription fetches (other)",
  },
  {
    "alter publication part drop table s.inherits": "publication table part s.inherits (missing)",
    "alter event trigger at_end disable": "event trigger at_end (other)",
    "delete from pg_seclabel where classoid = 'pg_type'::regclass and objoid = 'pos'::regtype":
      'security label my "own" DOMAIN public . pos (missing)',
    "update pg_seclabel set label = 'public' where classoid = 'pg_class'::regclass and objsubid = 2":
      'security label my "own" COLUMN s . t . v (other)',
    "comment on subscription plain is null": "comment subscription plain (missing)",
  },
])("what the dump has otherwise of it fails the test, which names it: %o", async (damages) => {
  const tested = await testIt(backup, await dumpedAfter(Object.keys(damages).join(";\n")));
  expect(tested.result).toBe("failed");
  expect(objectsOf(tested)).toMatchObject({ result: "passed" });
  const observed = objectsOf(tested, "inferred:unrestored")?.observed ?? {};
  for (const named of Object.values(damages)) expect(observed["differing_objects"]).toContain(named);
});

test.each([
  {
    "drop index s.t_part": "index s.t_part (missing)",
    "create index more on s.t (at)": "index s.more (not at the source)",
    "drop trigger after_all on s.t": "trigger s.t.after_all (missing)",
    "alter table s.t enable trigger whenever": "trigger s.t.whenever (other)",
    "drop rule gone on s.v": "rule s.v.gone (missing)",
    "select setval('s.seq', 5)": "sequence value s.seq (other)",
    "select lo_unlink(4711)": "large objects (missing)",
  },
  {
    "create or replace function s.f(a int default 3, b varchar default 'x') returns int language plpgsql security definer set search_path = s as $$ begin return (a + (3)); end $$":
      "function s.f(integer,character varying) (other)",
    "drop policy strict on s.t": "policy s.t.strict (missing)",
    "alter policy seen on s.t using (true)": "policy s.t.seen (other)",
    "create or replace view s.vv as select 1::bigint as x, ''::varchar(4) as vc": "view s.vv (other)",
    "comment on column s.t.v is null": "comment table column s.t.v (missing)",
    "drop statistics s.st": "statistics s.st (missing)",
  },
  {
    "alter function s.f security invoker": "function s.f(integer,character varying) (other)",
    "alter table s.child validate constraint child_t_check": "constraint s.child.child_t_check (other)",
    "alter table s.t reset (fillfactor)": "table s.t (other)",
    "alter sequence s.seq no cycle": "sequence s.seq (other)",
    "drop cast (pair as text)": "cast public.pair as text (missing)",
  },
])("a dump in which something is otherwise fails the test, which names it: %o", async (damages) => {
  const tested = await testIt(backup, await dumpedAfter(Object.keys(damages).join(";\n")));
  expect(tested.result).toBe("failed");
  const observed = objectsOf(tested)?.observed ?? {};
  for (const named of Object.values(damages)) expect(observed["differing_objects"]).toContain(named);
  expect(observed["differing"]).toBe(Object.keys(damages).length);
});

test.each([
  {
    "drop policy either_row on s.logic; create policy either_row on s.logic using (a or (b and c))":
      "policy s.logic.either_row (other)",
    "create or replace view s.either_of as select a from s.logic where a or (b and c)":
      "view s.either_of (other)",
    "alter table s.logic drop constraint either, add constraint either check (a or (b and c))":
      "constraint s.logic.either (other)",
    "drop index s.either_part; create index either_part on s.logic (v) where a or (b and c)":
      "index s.either_part (other)",
    "create or replace trigger either_way before update on s.logic for each row when (new.a or (new.b and new.c)) execute function s.trg('a (b)')":
      "trigger s.logic.either_way (other)",
    "create or replace rule either_rule as on update to s.either_of where old.a or (new.a and new.a) do instead nothing":
      "rule s.either_of.either_rule (other)",
  },
  {
    "alter table s.logic drop constraint apart, add constraint apart check (v <> 'no such one')":
      "constraint s.logic.apart (other)",
    "create or replace view s.as_text as select (a::text::varchar || b::text) as t from s.logic":
      "view s.as_text (other)",
    "alter domain s.spaced drop constraint spaced_out; alter domain s.spaced add constraint spaced_out check (value <> 'a b')":
      "constraint s.spaced.spaced_out (other)",
    "create or replace function s.spoken(t text default 'twowords') returns text language sql as 'select t'":
      "function s.spoken(text) (other)",
    "create or replace trigger whenever before insert or update of v on s.t for each row when (new.v <> 'z z' and new.n in (1, 2)) execute function s.trg(); alter table s.t disable trigger whenever":
      "trigger s.t.whenever (other)",
    "drop statistics s.of_both; create statistics s.of_both on (v || ''), (a and b) from s.logic":
      "statistics s.of_both (other)",
  },
])("an expression of another meaning fails the test: %o", async (damages) => {
  const tested = await testIt(backup, await dumpedAfter(Object.keys(damages).join(";\n")));
  expect(tested.result).toBe("failed");
  const observed = objectsOf(tested)?.observed ?? {};
  for (const named of Object.values(damages)) expect(observed["differing_objects"]).toContain(named);
  expect(observed["differing"]).toBe(Object.keys(damages).length);
});

test.each([
  "alter table s.logic alter v set default 'a(b)'",
  "alter table s.logic drop k, add k text generated always as (v || '( )') stored",
  "alter domain s.spaced set default 'a b'",
])("a default of another text fails the test of the schema: %s", async (damage) => {
  const tested = await testIt(backup, await dumpedAfter(damage));
  expect(tested.checks.find(({ id }) => id === "inferred:schema")).toMatchObject({ result: "failed" });
});

test("a backup by an earlier agent is compared as it was then, and the receipt says so", async () => {
  const whole = await back({}, "other");
  const {
    content,
    exact_schema_hash: _,
    ...earlier
  } = whole.sourceMetadata as unknown as Record<string, object>;
  const key = await openContentKey(earlier, [place.identity]);
  const settings = PRINTING.map((each) => `set ${each};`).join("\n");
  const listed = server.sql(`\\connect other\n${settings}\n${EARLIER_OBJECTS};`);
  const objects = objectsMetadata(earlierObjects(listed), key!);
  const made = {
    ...whole,
    sourceMetadata: {
      ...earlier,
      content: { ...content, objects },
    } as unknown as MadeBackup["sourceMetadata"],
  };
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  if (server.sql(WRITES_OPTIONS) === "t") {
    expect(objectsOf(tested)).toBeUndefined();
    expect(comparedContentText(tested.checks)).toContain("; objects not compared");
    return;
  }
  const less_exactly = "expressions without casts, parentheses and spaces";
  expect(objectsOf(tested)).toMatchObject({
    result: "passed",
    observed: { objects: objects.count, less_exactly },
  });
  expect(objectsOf(tested, "inferred:schema")).toMatchObject({
    result: "passed",
    observed: { less_exactly },
  });
  expect(comparedContentText(tested.checks)).toContain(
    `; ${objects.count} objects compared, their ${less_exactly}`,
  );
  const failed = await testIt(
    made,
    await dumpedAfter("drop index of_three; alter table single alter v set default 'y'", "other"),
  );
  expect(objectsOf(failed)?.observed["differing_objects"]).toBe("index public.of_three (missing)");
  expect(objectsOf(failed, "inferred:schema")).toMatchObject({ result: "failed" });
});

test("a backup that lists objects as agents did before the third version is compared with these alone", async () => {
  server.sql(`create database second template template0;
    \\connect second
    create table few (id serial); alter sequence few_id_seq restart with 7;
    create conversion narrower for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1`);
  const whole = await back({}, "second");
  const { content } = whole.sourceMetadata as unknown as { content: { objects: { total: number } } };
  const key = await openContentKey(whole.sourceMetadata, [place.identity]);
  const settings = PRINTING.map((each) => `set ${each};`).join("\n");
  const listed = databaseObjects(server.sql(`\\connect second\n${settings}\n${RESTORED_OBJECTS};`));
  expect(listed).toHaveLength(content.objects.total - 2);
  const objects = exactObjectsMetadata(listed, key!);
  const sourceMetadata = { ...whole.sourceMetadata, content: { ...content, objects } };
  const tested = await testIt({ ...whole, sourceMetadata } as unknown as MadeBackup);
  expect(tested.reason).toBeUndefined();
  expect(objectsOf(tested)).toMatchObject({ result: "passed", observed: { objects: listed.length } });
  // Of a source that did not list the others in time.
  const lacking = { ...objects, left_out: MORE_KINDS.map((kind) => [kind, null]) };
  const named = await testIt({
    ...whole,
    sourceMetadata: { ...whole.sourceMetadata, content: { ...content, objects: lacking } },
  } as unknown as MadeBackup);
  expect(named.reason).toBeUndefined();
  expect(objectsOf(named)).toMatchObject({
    result: "passed",
    observed: {
      objects: listed.length,
      not_looked_at_objects: "objects of 18 kinds such as conversions and languages",
    },
  });
  const reset = await dumpedAfter("alter sequence few_id_seq restart with 1", "second");
  const failed = await testIt(whole, reset);
  expect(objectsOf(failed)?.observed["differing_objects"]).toBe("sequence start public.few_id_seq (other)");
});

test("an extension that this host has in another version is named", async () => {
  const extensions = backup.sourceMetadata["extensions"] as { name: string; version: string }[];
  const sourceMetadata = {
    ...backup.sourceMetadata,
    extensions: extensions.map((each) => (each.name === "pg_trgm" ? { ...each, version: "1.0" } : each)),
  };
  const tested = await testIt({ ...backup, sourceMetadata });
  expect(tested.result).toBe("passed");
  const named = /^the version of extension pg_trgm \(1\.\d here and 1\.0 at the source\)$/;
  expect(objectsOf(tested)?.observed).toMatchObject({
    not_looked_at: 1,
    not_looked_at_objects: expect.stringMatching(named) as string,
  });
  expect(comparedContentText(tested.checks)).toContain(
    " objects compared, not compared: the version of extension pg_trgm (1.",
  );
});

test.each([
  {
    "alter large object 4711 owner to reader": "large object privileges 4711 (other)",
    "alter schema public owner to reader": "schema owner public (other)",
  },
  {
    "revoke select on large object 4711 from reader": "large object privileges 4711 (other)",
    "alter schema public owner to pg_database_owner": "schema owner public (missing)",
  },
  {
    "revoke update on owned.t from reader cascade": "privileges table owned.t (other)",
    "alter view owned.v owner to reader": "privileges table owned.v (other)",
    "grant execute on function owned.f() to public": "privileges function owned.f() (other)",
    "grant usage on schema public to public": "privileges schema public (missing)",
    "alter type mood owner to reader": "privileges type public.mood (other)",
    "alter default privileges for role app in schema owned revoke select on tables from reader":
      "default privileges app r owned (missing)",
  },
])("owners and grants that the dump gives otherwise fail the test, which names them: %o", async (damages) => {
  const tested = await testIt(backup, await dumpedAfter(Object.keys(damages).join(";\n")));
  expect(tested.result).toBe("failed");
  expect(objectsOf(tested)).toMatchObject({ result: "passed" });
  const observed = objectsOf(tested, "inferred:privileges")?.observed ?? {};
  // pg_dump 17 has those of large objects between the data.
  const isLate = Number(server.sql("show server_version_num")) >= 170_000;
  const named = Object.values(damages).filter((each) => !isLate || !each.startsWith("large object"));
  for (const each of named) expect(observed["differing_objects"]).toContain(each);
  expect(observed["differing"]).toBe(named.length);
  expect(observed["not_compared_objects"]).toBe(
    isLate ? "all of the kind large object privileges" : undefined,
  );
});

/** A backup whose owners and grants an earlier agent signed. */
async function signedEarlier(database: string): Promise<readonly [made: MadeBackup, objects: number]> {
  const made = await back({}, database);
  const key = await openContentKey(made.sourceMetadata, [place.identity]);
  const settings = PRINTING.map((each) => `set ${each};`).join("\n");
  const listed = privilegesOf(server.sql(`\\connect ${database}\n${settings}\n${LIST_PRIVILEGES};`));
  const then = listed.filter(({ kind }) => kind === "privileges" || kind === "default_privileges");
  expect(then.length).toBeLessThan(listed.length);
  const { content } = made.sourceMetadata as unknown as { content: object };
  const privileges = exactObjectsMetadata(then, key!);
  return [
    { ...made, sourceMetadata: { ...made.sourceMetadata, content: { ...content, privileges } } },
    then.length,
  ];
}

test("owners and grants of an earlier agent's backup are compared without large objects and public's owner", async () => {
  server.sql(`create database plain;
    \\connect plain
    create table few (id int); grant select on few to public; insert into few values (1);
    select lo_create(0); alter schema public owner to attestore`);
  const [made, objects] = await signedEarlier("plain");
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(objectsOf(tested, "inferred:privileges")).toMatchObject({
    result: "passed",
    observed: { objects, found: objects },
  });
});

test("owners and grants of an earlier agent's backup with a range type are named and not compared", async () => {
  const [made] = await signedEarlier("shop");
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(objectsOf(tested, "inferred:privileges")).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain("objects compared, not compared: owners and grants");
});

test("a range type's functions compare equal, whoever the server's first superuser is, to whom they belong", async () => {
  const own = await startSourcePostgres(place.dir, "postgres");
  try {
    own.sql(`create role app; create type span as range (subtype = float8); alter type span owner to app;
      create table stays (id int primary key, during span); insert into stays values (1, span(1, 2));`);
    const made = await backUp(place, own.source);
    const tested = await testBackup(place, own.source, made);
    expect(tested.reason).toBeUndefined();
    const privileges = tested.checks.find(({ id }) => id === "inferred:privileges");
    expect(privileges).toMatchObject({ result: "passed", observed: { objects: 4, differing: 0 } });
    expect(privileges?.observed).not.toHaveProperty("not_compared");
    // No dump has this, so the copy lets everybody run the function.
    own.sql("revoke execute on function span(float8, float8) from public");
    const revoked = await testBackup(place, own.source, await backUp(place, own.source));
    expect(revoked.reason).toBeUndefined();
    expect(comparedContentText(revoked.checks)).toContain(
      "owners and grants of 4 objects compared, not compared: all of the kind type function grants",
    );
  } finally {
    await own.close();
  }
});

/** The source, in the place of a scratch server. */
const asScratch = () => ({ run: programsIn(server.bin, server.environment) }) as unknown as ScratchServer;

test("of a dump with more than 64 MiB of SQL, owners and grants are not known, wherever it is cut off", async () => {
  server.sql(`create database large template template0;
    \\connect large
    create table t ();
    do $$ begin execute format('comment on table t is %L', repeat('x', 65 << 20)); end $$;
    grant select on t to reader;`);
  const dump = execFileSync(join(server.bin, "pg_dump"), ["--format=custom", "--compress=0", "large"], {
    env: { ...process.env, ...server.environment },
    maxBuffer: 128 << 20,
  });
  server.sql("drop database large");
  const looked = await lookIntoArchive(
    asScratch(),
    Readable.from([dump]),
    { privileges: true, unrestored: true },
    never,
  );
  await looked.close();
  expect(looked.privileges).toBeNull();
  expect(looked.unrestored).toBeNull();
});

test("where the server has no room for all owners and grants, they are not known", async () => {
  server.sql(`create database wide template template0;
    \\connect wide
    create table t (id int);
    do $$ begin for n in 1..100 loop execute 'create index on t (id)'; end loop; end $$`);
  const tried = () =>
    tryPrivileges(
      asScratch(),
      "wide",
      { statements: () => ["ALTER TABLE public . t OWNER TO reader"], roles: ["reader"] },
      never,
    );
  // The table, and the owner and the grants of the database.
  expect((await tried())?.listed).toHaveLength(3);
  const holder = await PsqlSession.open(programsIn(server.bin, server.environment), {}, never);
  try {
    const locked = await holder.run("select pg_advisory_lock(n) from generate_series(1, 1000000) n");
    expect(locked).toMatchObject({ ok: false, sqlstate: "53200" });
    // That is room for the list, and not for the locks of all indexes.
    await holder.run("select pg_advisory_unlock(n) from generate_series(1, 80) n");
    expect(await tried()).toBeNull();
  } finally {
    await holder.run("select pg_advisory_unlock_all()");
    await holder.close();
  }
});

test("objects are compared in several databases and in a dump of several jobs", async () => {
  server.sql(`\\connect other
    create function fickle(int) returns float8 immutable language plpgsql as 'begin return random(); end';
    create index by_chance on single (fickle(id));`);
  const made = await back({ databases: ["shop", "other"], jobs: 2 });
  const tested = await testIt(made);
  expect(tested.reason).toMatch(
    /^check inferred:indexes:other failed: 1 index does not fit the table: public\.by_chance\. Queries that use it give wrong rows\. .* declared immutable/,
  );
  for (const name of ["shop", "other"])
    for (const what of ["objects", "privileges"])
      expect(objectsOf(tested, `inferred:${what}:${name}`)).toMatchObject({
        result: "passed",
        observed: { differing: 0 },
      });
  // Its function is declared immutable and gives another result each time. That of by_settings
  // depends on settings, which are those of the load.
  expect(objectsOf(tested, "inferred:indexes:shop")?.observed).toEqual({
    indexes: expect.any(Number) as number,
    unfit: 0,
  });
  expect(objectsOf(tested, "inferred:indexes:other")).toMatchObject({
    result: "failed",
    observed: { indexes: 3, unfit: 1, unfit_names: "public.by_chance" },
  });
  expect(tested.result).toBe("failed");
});
