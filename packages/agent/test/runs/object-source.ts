import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

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
  create schema "s.t"; create sequence "s.t".u; create sequence s."t.u"; select setval('"s.t".u', 10), setval('s."t.u"', 20);
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

const DATABASES = `
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
`;

/** A server with the database shop, which has something of every kind, and the small one other. */
export interface ObjectSource {
  server: SourcePostgres;
  back(more?: Partial<SourceConfigOf<"postgresql">>, database?: string): Promise<MadeBackup>;
  test(made: MadeBackup, instead?: Resealed): Promise<RestoreTestResult>;
  /**
   * The backup with another dump in it: of a copy of the source in which `sql` was run. A mistake
   * of whoever dumps or stores it would look so.
   */
  dumpedAfter(sql: string, database?: string): Promise<Resealed>;
}

export async function startObjectSource(place: TestPlace): Promise<ObjectSource> {
  const server = await startSourcePostgres(place.dir);
  server.sql(DATABASES);
  return {
    server,
    back: (more = {}, database = "shop") => {
      const url = server.url(server.environment["PGUSER"] ?? "", "", database);
      return backUp(place, { ...server.source, connection: { kind: "url", url }, ...more });
    },
    test: (made, instead = made) => testBackup(place, server.source, made, { instead }),
    dumpedAfter: (sql, database = "shop") => dumpedAfter(place, server, sql, database),
  };
}

async function dumpedAfter(
  place: TestPlace,
  server: SourcePostgres,
  sql: string,
  database: string,
): Promise<Resealed> {
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

export const objectsOf = (tested: RestoreTestResult, id = "inferred:objects") =>
  tested.checks.find((check) => check.id === id);
