import { expect, test } from "vitest";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import {
  back,
  failedOf,
  kindsOf,
  postgres,
  run,
  source,
  testIt,
  useDumpsDirectory,
} from "./dumps-directory.ts";

useDumpsDirectory();

test("an honest dump needs no superuser: owners, rights, policies, extensions, publications, large objects", async () => {
  postgres.sql("create database rich; comment on database rich is 'it'");
  run(
    `psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
    create schema tools;
    create extension pg_trgm;
    create extension pg_stat_statements with schema tools;
    create extension amcheck;
    create extension earthdistance cascade;
    create extension moddatetime;
    create table orders (id int generated always as identity primary key, note text, unique (note));
    insert into orders (note) select 'n ' || i from generate_series(1, 1000) i;
    create index on orders using gin (note gin_trgm_ops);
    create function twice(int) returns int language plpgsql as $$ begin return 2 * $1; end $$;
    create table hidden (id int, owner name);
    insert into hidden select i, 'app' from generate_series(1, 70) i;
    alter table hidden enable row level security;
    alter table hidden force row level security;
    create policy own on hidden to app using (owner = current_user);
    create materialized view many as select count(*) as n, twice(2) as four from orders;
    create publication everything for all tables;
    alter default privileges in schema public grant select on tables to app;
    alter table orders owner to attestore;
    alter table hidden owner to app;
    grant all on schema public to public;
    grant select on hidden to attestore;
    revoke execute on function twice(int) from public;
    comment on schema public is 'commented';
    select lo_from_bytea(0, 'large');
SQL
    pg_dump >rich.sql; pg_dump -Fc >rich.dump`,
    { PGDATABASE: "rich" },
  );
  const of = source({
    checks: [
      { id: "orders", query: "select count(*) as n from orders", expect: "n = 1000" },
      { id: "hidden", query: "select count(*) as n from hidden", expect: "n = 70" },
      { id: "view", query: "select n, four from many", expect: "n = 1000 and four = 4" },
    ],
  });
  let passed: RestoreTestResult | undefined;
  for (const pattern of ["rich.sql", "rich.dump"]) {
    const tested = await testIt({ ...of, pattern }, await back({ ...of, pattern }));
    expect(tested.reason, pattern).toBeUndefined();
    expect(tested.checks.filter(({ result }) => result !== "passed")).toEqual([]);
    expect(tested.result).toBe("passed");
    passed = tested;
  }
  expect(kindsOf(passed)?.observed).toMatchObject({
    indexes: 3,
    constraints: 2,
    functions: 1,
    policies: 1,
  });
  // The rows are all there, and what makes them a database is not.
  run("rm rich.*; pg_dump -Fc --section=pre-data --section=data >bare.dump", { PGDATABASE: "rich" });
  const bare = await back(source());
  expect(kindsOf(await testIt(source(), bare))?.result).toBe("passed");
  const lost = await testIt(source(), bare, passed);
  expect(lost.result).toBe("failed");
  expect(failedOf(lost)).toEqual(["inferred:kinds"]);
  expect(lost.reason).toContain("saw: indexes 0 of 3");
  expect(lost.reason).toContain("attestore accept shop . --because REASON");
});

test("things that only the source's server has are not blamed on the dump, and no row or policy is skipped", async () => {
  postgres.sql(`
    create role "only there"; create database theirs;
    \\connect theirs
    create table large (n int, note text);
    insert into large select i, repeat('x', 1000) from generate_series(1, 2000) i;
    alter table large enable row level security;
    create policy own on large to "only there" using (n > 0);
  `);
  const formats = ["pg_dump -n public -Fc >a", "pg_dump -n public >a"];
  for (const dump of formats) {
    run(dump, { PGDATABASE: "theirs" });
    const tested = await testIt(source(), await back(source()));
    expect(tested.reason, dump).toBeUndefined();
    expect(kindsOf(tested)?.observed, dump).toMatchObject({ policies: 1 });
  }
  for (const [sql, lacks] of [
    ["create table whose (who regrole); insert into whose values ('app')", "a role (type regrole)"],
    [
      `drop table whose; create extension pg_stat_statements; create table seen (n int); insert into seen values (1);
       create materialized view calls as select case when n > 1 then (select count(*) from public.pg_stat_statements) end from seen; update seen set n = 2`,
      "the dump needs pg_stat_statements, which works only if its server preloads it",
    ],
  ] as const) {
    postgres.sql(`\\connect theirs\n${sql}`);
    for (const dump of ["pg_dump -Fc >a", "pg_dump >a"]) {
      run(dump, { PGDATABASE: "theirs" });
      await expect(testIt(source(), await back(source())), dump).rejects.toMatchObject({
        code: "sandbox_lacks",
        message: expect.stringContaining(lacks),
      });
    }
  }
});

test("neither are an extension and a locale that only its host has", async () => {
  postgres.sql(`create database afar; create database words;
    \\connect afar
    create extension unaccent; update pg_extension set extname = 'only_there' where extname = 'unaccent';
    \\connect words
    create collation klingon (locale = 'C.UTF-8');
    update pg_collation set collcollate = 'tlh_KL.utf8', collctype = 'tlh_KL.utf8' where collname = 'klingon'`);
  for (const [database, dump, at] of [
    ["afar", "pg_dump -Fc >a", "EXTENSION - only_there (SQLSTATE 0A000)"],
    ["afar", "pg_dump -Ft >a", "EXTENSION - only_there (SQLSTATE 0A000)"],
    ["afar", "pg_dump >a", "EXTENSION - only_there (SQLSTATE 0A000)"],
    ["words", "pg_dump -Fc >a", "a COLLATION (SQLSTATE 22023)"],
    ["words", "pg_dump >a", "a COLLATION (SQLSTATE 22023)"],
  ] as const) {
    run(dump, { PGDATABASE: database });
    await expect(testIt(source(), await back(source())), `${dump} ${database}`).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining(`lacks a feature that the dump needs at ${at}`),
    });
  }
});
