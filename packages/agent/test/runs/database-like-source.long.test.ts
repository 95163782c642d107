import { afterAll, beforeAll, expect, test } from "vitest";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** A restore is made into a database with the source's locale and settings, or not at all. */

const never = new AbortController().signal;
const SECRET = "hunter2-of-the-application";

let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create database german template template0 locale_provider icu icu_locale 'de-DE' lc_collate 'C' lc_ctype 'C.UTF-8';
    alter database german set datestyle = 'ISO, DMY';
    alter database german set search_path = sales, public;
    alter database german set "app.secret" = E'a''${SECRET}\\nalter database german set x to ''y'';';
    alter database german set default_transaction_read_only = on;
    alter database german set statement_timeout = '200ms';
    alter database german set log_min_duration_statement = 5;
    alter database german set session_preload_libraries = 'auto_explain';
    \\connect german
    set default_transaction_read_only = off; set statement_timeout = 0;
    create schema sales;
    create table sales.words (word text check (word ~ '^[[:alpha:]]+$'), day text check (day::date < '2031-01-01')) partition by range (word);
    create table sales.first_words partition of sales.words for values from (minvalue) to ('b');
    create table sales.last_words partition of sales.words for values from ('b') to (maxvalue);
    insert into sales.words values ('ärger', '31/12/2020'), ('zweck', '30/11/2020');
    create database plain template template0;
    create database bare template template0;
    \\connect bare
    drop schema public; drop extension plpgsql;
    create role "only Here" nologin; create role of_column nologin;
    create schema own;
    create table own.rows (n int, who regrole);
    insert into own.rows values (1, '"only Here"'), (2, 'of_column');
    alter table own.rows enable row level security;
    create policy theirs on own.rows to "only Here", of_column using (n > 0);
  `);
  process.env["TEST_BARE_URL"] = server.url(server.environment["PGUSER"] ?? "", "", "bare");
  process.env["TEST_GERMAN_URL"] = server.url(server.environment["PGUSER"] ?? "", "", "german");
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function sourceOf(more: Partial<SourceConfigOf<"postgresql">> = {}): SourceConfigOf<"postgresql"> {
  return { ...server.source, connection: { kind: "env", name: "TEST_GERMAN_URL" }, ...more };
}

function back(more: Partial<SourceConfigOf<"postgresql">> = {}): Promise<MadeBackup> {
  return backUp(place, sourceOf(more));
}

function testIt(made: MadeBackup, metadata: Record<string, unknown> = {}): Promise<RestoreTestResult> {
  const check: CheckConfig = {
    id: "words",
    query: "select count(*) as n, min(word) as first from words",
    expect: "n = 2 and first = 'ärger'",
  };
  return testBackup(place, sourceOf({ checks: [check] }), made, { metadata });
}

test("constraints, partitions and queries that depend on the locale and the settings hold", async () => {
  expect(await testIt(backup)).toMatchObject({ result: "passed" });
});

test("the database's limit on a statement's time does not end ours", async () => {
  const run = programsIn(server.bin, server.environment);
  const session = await PsqlSession.open(run, {}, never, { database: "german" });
  expect(await session.run("select pg_sleep(0.4)")).toMatchObject({ ok: true });
  await session.close();
});

test("the same in a set, and with a dump of several jobs", async () => {
  for (const more of [{ databases: ["german", "plain", "bare"] }, { jobs: 2 }]) {
    expect((await testIt(await back(more))).reason).toBeUndefined();
  }
});

test("the receipt names the locale, and none of the settings, which may hold secrets", () => {
  expect(backup.sourceMetadata["locale"]).toEqual({
    provider: "icu",
    collate: "C",
    ctype: "C.UTF-8",
    locale: "de-DE",
    icu_rules: null,
  });
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain(SECRET);
});

test.each([
  [{ provider: "libc", collate: "xx_XX.UTF-8", ctype: "xx_XX.UTF-8" }, "the locale xx_XX.UTF-8"],
  [
    { provider: "libc", collate: "C'; drop table x; \\! id", ctype: "C" },
    "the locale C'; drop table x; \\! id",
  ],
  [
    { provider: "builtin", collate: "C", ctype: "C", locale: "C.UTF-8", icu_rules: null },
    "C.UTF-8 of the built-in provider",
  ],
])("a locale that this host lacks is no failure of the backup: %o", async (locale, named) => {
  await expect(testIt(backup, { locale })).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining(named) as string,
  });
});

/** Its checks count the rows of a table that is there in every dump of the database `bare`. */
async function testBare(made: MadeBackup): Promise<RestoreTestResult> {
  const check: CheckConfig = { id: "rows", query: "select count(*) as n from own.rows", expect: "n = 2" };
  return testBackup(place, bareSource({ checks: [check] }), made);
}

function bareSource(more: Partial<SourceConfigOf<"postgresql">> = {}): SourceConfigOf<"postgresql"> {
  return { ...server.source, connection: { kind: "env", name: "TEST_BARE_URL" }, ...more };
}

test("a source without the schema public, without plpgsql, and with roles of its own in rows and policies passes", async () => {
  for (const more of [{}, { jobs: 2 }]) {
    const made = await back(bareSource(more));
    const tested = await testBare(made);
    expect(tested.reason).toBeUndefined();
  }
});
