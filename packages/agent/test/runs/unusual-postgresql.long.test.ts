import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { moreRestored } from "../../src/engines/postgresql/content/more-objects.ts";
import { LOADING_ROLE } from "../../src/engines/postgresql/database/loading-role.ts";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import { expectedObjects } from "../../src/engines/content/compare-objects.ts";
import { leftOutAtSource } from "../../src/engines/postgresql/content/not-looked-at.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";
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

const of = (database: string) => ({
  ...server.source,
  connection: { kind: "url", url: server.url("postgres", "", database) } as const,
});

const dumpOf = (database: string): Buffer =>
  execFileSync(join(server.bin, "pg_dump"), ["--format=custom", "--compress=0", database], {
    env: { ...process.env, ...server.environment, PGTZ: "UTC" },
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

/** What a database is like in which words of ours would mean something else. */
const SETTINGS = (database: string): string => `
  alter database ${database} set quote_all_identifiers = on;
  alter database ${database} set search_path = public, pg_catalog;`;

test("a database that quotes every name and has a count of its own is compared, and loses no row unnoticed", async () => {
  server.sql(`create database renamed template template0;
    ${SETTINGS("renamed")}
    \\connect renamed
    create table parent (id int); create table child (more int) inherits (parent); insert into child values (1, 1), (2, 2), (3, 3);
    create function stays(int8) returns int8 language sql immutable as 'select $1';
    create aggregate public.count(*) (sfunc = stays, stype = int8, initcond = '3');
    create table public.pg_class (oid int, relname text);`);
  const made = await backUp(place, of("renamed"));
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:content")?.observed).toMatchObject({ tables: 2 });
  server.sql(`create database fewer template renamed; ${SETTINGS("fewer")}
    \\connect fewer
    delete from child where id = 2`);
  // The content of a table that inherits columns is not compared, so only the count tells.
  const fewer = await testBackup(place, server.source, made, {
    instead: await reseal(place, dumpOf("fewer")),
  });
  expect(fewer.reason).toMatch(/^check inferred:rows:public.child failed/);
});

/** Whose text PostgreSQL itself writes, with as many quotes as its session wants. */
const WRITTEN_BY_SERVER = `
  create schema s; create type s.mood as enum ('a', 'b'); create domain s.short as text default lower('A') check (value <> 'x y');
  create function s.f(m s.mood, n int) returns int language sql as 'select 1'; create function s.two() returns int language sql as 'select 2';
  create function s.told() returns event_trigger language plpgsql as 'begin end'; create function s.trg() returns trigger language plpgsql as 'begin return new; end';
  create domain s.counted as int default s.two();
  create table s.t (id int primary key, "order" text, plain text default lower('A'), r regclass, m s.mood, k text generated always as (lower(plain)) stored,
    constraint c check (plain <> 'x' and "order" <> 'y'), v s.counted);
  insert into s.t (id, "order", r) values (1, 'a', 's.t'), (2, 'b', 'pg_class');
  create index by_plain on s.t (lower(plain)) where "order" <> 'z';
  create view s.v as select "order", plain as p from s.t; create rule gone as on delete to s.v do instead delete from s.t where plain = old.p;
  create trigger whenever before update on s.t for each row when (new.plain <> 'x') execute function s.trg();
  create policy own on s.t for select to reader using (plain <> "order"); create statistics s.st on id, m from s.t; comment on function s.f is 'of us';
  create text search dictionary s.dict (template = pg_catalog.simple, stopwords = 'english', accept = false);
  create text search configuration s.cfg (copy = simple); alter text search configuration s.cfg alter mapping for word with s.dict;
  create publication chosen for table s.t (id, "order", plain) where (id > 1 and "order" <> 'x "plain"') with (publish = 'insert');
  create event trigger at_end on ddl_command_end execute function s.told();
  grant execute on function s.f(s.mood, int) to reader; grant select (plain) on s.t to reader; alter table s.t owner to reader;
  alter default privileges for role reader in schema s grant select on tables to reader;
  insert into pg_seclabel select oid, 'pg_proc'::regclass, 0, 'mac', 'top' from pg_proc where proname = 'f' and pronamespace = 's'::regnamespace;`;

const FOR_THE_SERVER = [
  "alter system set quote_all_identifiers = on; select pg_reload_conf()",
  "alter system reset quote_all_identifiers; select pg_reload_conf()",
] as const;
const FOR_THE_DATABASE = [
  "alter database quoting set quote_all_identifiers = on",
  "alter database quoting reset quote_all_identifiers",
] as const;
const FOR_THE_ROLE = [
  "alter role postgres set quote_all_identifiers = on",
  "alter role postgres reset quote_all_identifiers",
] as const;

test.each([
  ["in postgresql.conf, before the objects were made", FOR_THE_SERVER, "before"],
  ["in postgresql.conf, after", FOR_THE_SERVER, "after"],
  ["for the database, before", FOR_THE_DATABASE, "before"],
  ["for the database, after", FOR_THE_DATABASE, "after"],
  ["for the role, before", FOR_THE_ROLE, "before"],
  ["for the role, and no more", FOR_THE_ROLE, "no more"],
])(
  "a source that quotes every name passes, and what the server writes is compared: %s",
  async (_, [on, off], when) => {
    server.sql("create database quoting template template0; create role reader");
    try {
      if (when !== "after") server.sql(on);
      server.sql(`\\connect quoting\n${WRITTEN_BY_SERVER}`);
      if (when === "no more") server.sql(off);
      if (when === "after") server.sql(on);
      const made = await backUp(place, of("quoting"));
      const tested = await testBackup(place, server.source, made);
      expect(tested.reason).toBeUndefined();
      for (const id of ["inferred:objects", "inferred:unrestored", "inferred:privileges", "inferred:content"])
        expect(
          tested.checks.find((each) => each.id === id),
          id,
        ).toMatchObject({
          result: "passed",
          observed: { differing: 0 },
        });
    } finally {
      server.sql(`${off}; drop database quoting; drop role reader`);
    }
  },
);

test("the options of a dictionary are compared, quotes or not", async () => {
  server.sql(`create database quoting template template0;
    \\connect quoting
    create table words (v text); insert into words values ('a');
    set quote_all_identifiers = on;
    create text search dictionary a (template = simple, stopwords = 'english', accept = false);
    create text search dictionary b (template = synonym, synonyms = 'synonym_sample', casesensitive = 1);`);
  try {
    const made = await backUp(place, of("quoting"));
    server.sql(`\\connect quoting
      alter text search dictionary a (accept = true);
      alter text search dictionary b (casesensitive = 0);`);
    const tested = await testBackup(place, server.source, made, {
      instead: await reseal(place, dumpOf("quoting")),
    });
    expect(tested.checks.find(({ id }) => id === "inferred:objects")?.observed).toMatchObject({
      differing: 2,
      differing_objects:
        "text search public.a (dictionary) (other), text search public.b (dictionary) (other)",
    });
  } finally {
    server.sql("drop database quoting");
  }
});

test("a source without standard_conforming_strings passes, with backslashes in comments and conditions", async () => {
  server.sql(`create database escaping template template0;
    alter database escaping set standard_conforming_strings = off;
    \\connect escaping
    create table words (id int primary key, v text default E'a\\\\b'''); insert into words values (1, E'a\\\\b');
    create publication known for table words where (v = E'a\\\\b') with (publish = 'insert');
    comment on publication known is E'a\\\\b'''; comment on database escaping is E'\\\\'; comment on table words is E'\\\\';`);
  const made = await backUp(place, of("escaping"));
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:unrestored")?.observed).toMatchObject({
    objects: 7,
    differing: 0,
  });
});

test("what a restore with owners may not build or fill is named, and nothing else", async () => {
  server.sql(`create role maker; create role user_of_it; create role apart;
    create database owned template template0;
    \\connect owned
    create schema tools authorization maker; grant usage on schema tools to user_of_it;
    create schema shop authorization user_of_it;
    create function tools.upper(text) returns text immutable language sql as 'select pg_catalog.upper($1)';
    create function shop.key(text) returns text immutable language plpgsql as 'begin return tools.upper($1); end';
    create function shop.own(text) returns text immutable language plpgsql as 'begin return pg_catalog.lower($1); end';
    create table shop.words (v text); insert into shop.words values ('a');
    create index by_key on shop.words (shop.key(v)); create index by_own on shop.words (shop.own(v)); create index plain on shop.words (lower(v));
    create table tools.rows (id int); insert into tools.rows values (1), (2);
    alter table tools.rows enable row level security; create policy later on tools.rows for select to user_of_it using (id > 1);
    grant select on tools.rows to user_of_it, apart;
    alter table shop.words owner to user_of_it; alter table tools.rows owner to maker;
    create materialized view shop.seen as select * from tools.rows; alter materialized view shop.seen owner to user_of_it;
    create materialized view tools.own as select * from tools.rows; alter materialized view tools.own owner to maker;
    create materialized view shop.empty as select * from tools.rows with no data; alter materialized view shop.empty owner to user_of_it;`);
  const made = await backUp(place, of("owned"));
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:objects")?.observed).toMatchObject({
    not_looked_at: 2,
    not_looked_at_objects:
      "whether its owner may build index shop.by_key, whether its owner may fill materialized view shop.seen",
  });
  expect(comparedContentText(tested.checks)).toContain("not compared: whether its owner may build index");
  // So it is in a restore with owners.
  server.sql("create database again template template0");
  const restore = spawnSync(join(server.bin, "pg_restore"), ["--dbname=again"], {
    env: { ...process.env, ...server.environment },
    input: dumpOf("owned"),
    encoding: "utf8",
  });
  expect(restore.stderr.match(/Command was: .*/g)).toEqual([
    expect.stringContaining("CREATE INDEX by_key ") as string,
    expect.stringContaining("REFRESH MATERIALIZED VIEW shop.seen") as string,
  ]);
});

test("a commutator that was never made, a comment on a constraint trigger and a final function's option without one pass", async () => {
  server.sql(`create database halves template template0;
    \\connect halves
    create table t (id int); insert into t values (1);
    create operator %% (leftarg = int, rightarg = int8, function = int48eq, commutator = %%);
    create function tells() returns trigger language plpgsql as 'begin return null; end';
    create constraint trigger told after insert on t deferrable for each row execute function tells();
    comment on constraint told on t is 'lost'; comment on trigger told on t is 'kept';
    create aggregate added(int) (sfunc = int4pl, stype = int, finalfunc_modify = read_write);`);
  const made = await backUp(place, of("halves"));
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:objects")?.observed).toMatchObject({
    not_looked_at_objects: "comments that no dump has",
  });
});

test("an aggregate that only a superuser may make is not blamed on the dump", async () => {
  server.sql(`create database joining template template0;
    \\connect joining
    create table t (v text); insert into t values ('a');
    create aggregate joined(text, text) (sfunc = string_agg_transfn, stype = internal, finalfunc = string_agg_finalfn);`);
  const made = await backUp(place, of("joining"));
  await expect(testBackup(place, server.source, made)).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining(
      "the dump needs an aggregate whose state is of the type internal",
    ) as string,
  });
});

test("options that a dump has in another order pass, and comments and grants that a restore does not bring back are named", async () => {
  server.sql(`create role asker; create database in_order template template0;
    \\connect in_order
    create table base (id int primary key); insert into base values (1);
    create view checked with (check_option = local, security_barrier) as select * from base;
    create extension postgres_fdw;
    create server away foreign data wrapper postgres_fdw options (port '5432', host '192.0.2.1', dbname 'x');
    create user mapping for asker server away options (user 'u', password 'p');
    create foreign table there (a int options (column_name 'z')) server away options (table_name 'a', schema_name 'b');
    create table parts (id int constraint above check (id > 0), base int references base, at int) partition by range (id);
    create table parts_1 partition of parts for values from (1) to (9);
    create function touch() returns trigger language plpgsql as 'begin return new; end';
    create trigger touched before insert on parts for each row execute function touch();
    create type span as range (subtype = float8);`);
  const undumped = `comment on constraint above on parts_1 is 'of a parent'; comment on constraint parts_base_fkey on parts_1 is 'of a parent';
    comment on trigger touched on parts_1 is 'of a parent'; comment on function span(float8, float8) is 'of a type'; comment on type span_multirange is 'of a type'; comment on type base is 'of a table'`;
  const summaryOf = async (sql: string): Promise<string | null> => {
    server.sql(`\\connect in_order\n${sql}`);
    const tested = await testBackup(place, server.source, await backUp(place, of("in_order")));
    expect(tested.reason).toBeUndefined();
    return comparedContentText(tested.checks);
  };
  expect(await summaryOf("")).toMatch(
    /; \d+ objects compared; owners and grants of \d+ objects compared; 2 objects that a test does not restore compared in the dump$/,
  );
  const named = await summaryOf(`${undumped}; revoke execute on function pg_sleep(float8) from public`);
  expect(named).toMatch(/objects compared, not compared: comments that no dump has; owners/);
  expect(named).toMatch(/objects compared, not compared: all of the kind grants on system objects; /);
});

test("a setting with which a restore reads NULLs in arrays as texts fails the test, because pg_restore -C does so too", async () => {
  server.sql(`create database arrays template template0;
    \\connect arrays
    create table lists (list text[]); insert into lists values ('{a,null}');
    alter database arrays set array_nulls = off`);
  const tested = await testBackup(place, server.source, await backUp(place, of("arrays")));
  expect(tested.reason).toContain("the content of public.lists differs from the dump");
  server.sql("alter database arrays reset array_nulls");
  const right = await testBackup(place, server.source, await backUp(place, of("arrays")));
  expect(right.reason).toBeUndefined();
});

test("a collation of a locale that this host lacks could not run, and is not blamed on the dump", async () => {
  server.sql(`create database klingon template template0;
    \\connect klingon
    create collation tlh (locale = 'C.UTF-8'); create table words (word text); insert into words values ('a');
    update pg_collation set collcollate = 'tlh_KL.utf8', collctype = 'tlh_KL.utf8' where collname = 'tlh'`);
  await expect(testBackup(place, server.source, await backUp(place, of("klingon")))).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("at a COLLATION (SQLSTATE 22023)") as string,
  });
});

test("an extension in another schema than the one that it needs comes back where it was, and so does the other", async () => {
  server.sql(`create database maps template template0;
    \\connect maps
    create schema geo; create extension cube; create extension earthdistance with schema geo;
    create table places (at cube); insert into places values ('(1, 2, 3)');`);
  const tested = await testBackup(place, server.source, await backUp(place, of("maps")));
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).not.toContain("not compared");
});

test("what no dump has, and grants on extensions' objects, are named", async () => {
  server.sql(`create role unheard; create database unheard template template0;
    \\connect unheard
    create extension pg_trgm;
    create table kept (id int primary key, parent int constraint to_kept references kept); insert into kept values (1, 1);`);
  const named = async (sql: string): Promise<string> => {
    server.sql(`\\connect unheard\n${sql}`);
    const tested = await testBackup(place, server.source, await backUp(place, of("unheard")));
    expect(tested.reason).toBeUndefined();
    return comparedContentText(tested.checks) ?? "";
  };
  try {
    expect(await named("")).not.toContain("not compared");
    const summary =
      await named(`create index unfinished on kept (parent); update pg_index set indisvalid = false where indexrelid = 'unfinished'::regclass;
      alter table kept disable trigger all;
      create table of_extension (n int); insert into of_extension values (1); alter extension pg_trgm add table of_extension;
      create sequence of_numbers; select setval('of_numbers', 7); create sequence of_none; alter extension pg_trgm add sequence of_numbers; alter extension pg_trgm add sequence of_none;
      create table information_schema.of_server (n int); insert into information_schema.of_server values (1);
      grant execute on function similarity(text, text) to unheard;`);
    for (const each of [
      "information_schema.of_server (not_in_dump)",
      "public.of_extension (not_in_dump)",
      "public.of_numbers (not_in_dump)",
      "switched off triggers of constraints that no dump has",
      "objects in pg_catalog or information_schema that no dump has",
      "invalid indexes that no dump has",
      " objects compared, not compared: all of the kind grants on extension objects",
    ])
      expect(summary).toContain(each);
    expect(summary).not.toContain("of_none");
    // As an extension does whose sequence has a value that a dump keeps.
    server.sql(
      `\\connect unheard
      update pg_extension set extconfig = array['of_numbers'::regclass], extcondition = array[''] where extname = 'pg_trgm';
      create table spans (span int4range, exclude using gist ((span + int4range(0, 1)) with &&)); alter index spans_expr_excl alter column 1 set statistics 44;
      create table whole (n int) partition by list (n); create table part partition of whole for values in (1); update pg_inherits set inhdetachpending = true where inhrelid = 'part'::regclass;`,
    );
    const { sourceMetadata } = await backUp(place, of("unheard"));
    const { content } = sourceMetadata as { content?: { not_compared: { named: unknown[] } } };
    expect(content?.not_compared.named).toContainEqual({ name: "public.of_numbers", why: "extension_table" });
    const expected = expectedObjects(sourceMetadata as never);
    expect(expected === null ? [] : leftOutAtSource(expected)).toEqual(
      expect.arrayContaining([
        "partitions whose detaching did not end, which no dump has",
        "statistics targets of exclusion constraints that no dump has",
      ]),
    );
  } finally {
    server.sql("drop database unheard; drop role unheard");
  }
});

test.each(["LATIN1", "EUC_JP"])(
  "names that are not ASCII in a database in %s are compared",
  async (encoding) => {
    const [name, value] = encoding === "LATIN1" ? ["tä", "é"] : ["表", "日"];
    const database = `in_${encoding.toLowerCase()}`;
    server.sql(`create role reads_${encoding};
    create database ${database} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C';
    \\connect ${database}
    set client_encoding = utf8;
    create table "${name}" ("${value}" serial, note text); insert into "${name}" (note) values ('${value}');
    grant select on "${name}" to reads_${encoding}; create publication "${name}" for table "${name}"`);
    const made = await backUp(place, of(database));
    const tested = await testBackup(place, server.source, made);
    expect(tested.reason).toBeUndefined();
    expect(comparedContentText(tested.checks)).toMatch(
      /^content of 1 table compared; \d+ objects compared; owners and grants of \d+ objects compared; 4 objects that a test/,
    );
  },
);

test("a dump whose code adds a function and hides it in an extension fails the test", async () => {
  server.sql(`create database hiding template template0;
    \\connect hiding
    create extension pg_trgm; create table kept (id int); insert into kept values (1);
    create function ran() returns int language sql as 'select 1'; create materialized view runs as select ran() as x`);
  const made = await backUp(place, of("hiding"));
  server.sql(`create database hidden template hiding;
    \\connect hidden
    create function backdoor() returns int language sql security definer as 'select 1';
    create or replace function ran() returns int language plpgsql as $$ begin
      alter extension pg_trgm add function public.backdoor();
      execute 'create or replace function public.ran() returns int language sql as ''select 1''';
      return 1;
    end $$`);
  const tested = await testBackup(place, server.source, made, {
    instead: await reseal(place, dumpOf("hidden")),
  });
  expect(tested.reason).toContain("extension member function public.backdoor() (not at the source)");
});

test("a name that is not UTF-8 in a database in SQL_ASCII makes no backup, and the reason says what to do", async () => {
  server.sql(`create database in_ascii template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C';
    \\connect in_ascii
    do $$ begin
      execute format('create table %I (id int)', convert_from('\\xe4'::bytea, 'SQL_ASCII'));
    end $$`);
  await expect(backUp(place, of("in_ascii"))).rejects.toThrow(
    "SQLSTATE 22021: a name or definition in the database is not UTF-8. A database in the encoding SQL_ASCII takes any bytes: rename what has others, or move the data to a database in UTF8",
  );
});

test("a language that belongs to whoever creates its extension, as PL/Perl does, is no addition", async () => {
  server.sql(`create role ${LOADING_ROLE} login;
    create database spoken template template0 owner ${LOADING_ROLE};
    \\connect spoken
    drop extension plpgsql; set role ${LOADING_ROLE}; create extension plpgsql`);
  const environment = { ...server.environment, PGDATABASE: "spoken" };
  const never = new AbortController().signal;
  const session = await PsqlSession.open(programsIn(server.bin), environment, never);
  try {
    expect(await moreRestored(session, 4)).toEqual([]);
  } finally {
    await session.close();
  }
});
