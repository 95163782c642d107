import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type ObjectSource, objectsOf, startObjectSource } from "./object-source.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** What came back is what went in: everything of a PostgreSQL database besides rows. */

let place: TestPlace;
let source: ObjectSource;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startObjectSource(place);
  backup = await source.back();
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

const major = (): number => Number.parseInt(source.server.sql("show server_version"), 10);

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
      "generated_column_order",
      "index",
      "large_objects",
      "materialized_view",
      ...(major() < 18 ? [] : ["not_null"]),
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
  const tested = await source.test(backup);
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
    database_locale: 1,
    extension_comment: 1,
    subscription_connection: 2,
    // pg_dump 17 and later write it between the data.
    ...(major() < 17 ? { large_object_label: 1 } : {}),
  });
  const tested = await source.test(backup);
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
  {
    "alter subscription plain connection 'host=192.0.2.2'": "subscription connection plain (other)",
    "comment on extension pg_trgm is 'other'": "extension comment pg_trgm (other)",
  },
])("what the dump has otherwise of it fails the test, which names it: %o", async (damages) => {
  const tested = await source.test(backup, await source.dumpedAfter(Object.keys(damages).join(";\n")));
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
  const tested = await source.test(backup, await source.dumpedAfter(Object.keys(damages).join(";\n")));
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
  const tested = await source.test(backup, await source.dumpedAfter(Object.keys(damages).join(";\n")));
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
  const tested = await source.test(backup, await source.dumpedAfter(damage));
  expect(tested.checks.find(({ id }) => id === "inferred:schema")).toMatchObject({ result: "failed" });
});

test("NOT NULL comes back; from PostgreSQL 18 on, also its name, NO INHERIT and NOT VALID are compared", async () => {
  const named = major() >= 18;
  source.server.sql(`create database strict template template0;
    \\connect strict
    create table few (id int primary key, a int not null, b int constraint "Of b" not null, c serial, d int, e int, "Long" int generated always as identity);
    insert into few (id, a, b, d, e) values (1, 1, 1, 1, 1);
    create table heir (b int not null, f text not null) inherits (few);
    create table parts (k int not null, v text) partition by list (k); create table part partition of parts (v not null) for values in (1);
    ${named ? "alter table only few add constraint alone not null d no inherit; alter table few add constraint later not null e not valid;" : ""}`);
  const made = await source.back({}, "strict");
  const { kinds } = (made.sourceMetadata["content"] as { objects: { kinds: Record<string, unknown> } })
    .objects;
  expect("not_null" in kinds).toBe(named);
  const tested = await source.test(made);
  expect(tested.reason).toBeUndefined();
  if (!named) return;
  const damages = {
    "alter table few rename constraint few_a_not_null to of_a":
      "not null public.few.few_a_not_null (missing)",
    "alter table few alter constraint alone inherit": "not null public.few.alone (other)",
    "alter table few validate constraint later": "not null public.few.later (other)",
  };
  const failed = await source.test(
    made,
    await source.dumpedAfter(Object.keys(damages).join(";\n"), "strict"),
  );
  for (const each of Object.values(damages))
    expect(objectsOf(failed)?.observed["differing_objects"]).toContain(each);
});

test("an extension that this host has in another version is named", async () => {
  const extensions = backup.sourceMetadata["extensions"] as { name: string; version: string }[];
  const sourceMetadata = {
    ...backup.sourceMetadata,
    extensions: extensions.map((each) => (each.name === "pg_trgm" ? { ...each, version: "1.0" } : each)),
  };
  const tested = await source.test({ ...backup, sourceMetadata });
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
  const tested = await source.test(backup, await source.dumpedAfter(Object.keys(damages).join(";\n")));
  expect(tested.result).toBe("failed");
  expect(objectsOf(tested)).toMatchObject({ result: "passed" });
  const observed = objectsOf(tested, "inferred:privileges")?.observed ?? {};
  // pg_dump 17 has those of large objects between the data.
  const isLate = Number(source.server.sql("show server_version_num")) >= 170_000;
  const named = Object.values(damages).filter((each) => !isLate || !each.startsWith("large object"));
  for (const each of named) expect(observed["differing_objects"]).toContain(each);
  expect(observed["differing"]).toBe(named.length);
  expect(observed["not_compared_objects"]).toBe(
    isLate ? "all of the kind large object privileges" : undefined,
  );
});
