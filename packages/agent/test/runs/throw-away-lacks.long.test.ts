/** Restores into a database of the customer's that lacks what the backup needs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSourceConfig, type SourceConfig } from "../../src/config/source-config.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

let place: TestPlace;
let source: SourcePostgres;
let other: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  other = await startSourcePostgres(place.dir);
  other.sql("create role tester login; create database scratch owner tester");
  other.sql("\\connect scratch\nalter schema public owner to tester");
  source = await startSourcePostgres(place.dir);
  process.env["TEST_SCRATCH_URL"] = other.url("tester", "", "scratch");
});
afterAll(async () => {
  await source?.close();
  await other?.close();
  await place?.remove();
});

/** A backup of a database in which this was run, and its test. */
function testOf(name: string, sql: string): () => Promise<{ result: string; reason?: string }> {
  source.sql(`create database ${name} template template0`);
  source.sql(`\\connect ${name}\ncreate table orders (id int); insert into orders values (1); ${sql}`);
  const config: SourceConfig = {
    ...parseSourceConfig(
      name,
      {
        engine: "postgresql",
        connection: "env:TEST_SOURCE_URL",
        sandbox: { kind: "uri", database: "env:TEST_SCRATCH_URL" },
      },
      place.dir,
    ),
    connection: { kind: "url", url: source.url("attestore", "", name) },
  } as SourceConfig;
  return async () => testBackup(place, config, await backUp(place, config));
}

test.each([
  ["an_extension", "create extension pageinspect", "it needs the extension pageinspect"],
  [
    "a_locale",
    `create collation tlh (locale = 'C.UTF-8');
     update pg_collation set collcollate = 'tlh_KL.utf8', collctype = 'tlh_KL.utf8' where collname = 'tlh'`,
    "its server does not have the locale of a collation",
  ],
  [
    "a_right",
    "create function sure() returns int language sql leakproof as 'select 1'",
    "it needs a superuser to define a leakproof function",
  ],
])("that could not run, and says what: %s", async (name, sql, told) => {
  await expect(testOf(name, sql)()).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining(told) as string,
  });
});

test.each([
  ["while rows are loaded", "alter table orders add check (f(id))"],
  ["by an index", "create index on orders (f(id))"],
])("but a dump that raises such an error %s has failed", async (when, sql) => {
  const name = `raises_${when.slice(0, 2)}`;
  const body = (does: string): string =>
    `create or replace function f(int) returns bool language plpgsql immutable as $$ begin ${does} return true; end $$;`;
  const raising = `raise exception using message = E'extension "postgis" is not available\\nCONTEXT:  COPY orders, line 1: "1"', errcode = '0A000';`;
  const tested = await testOf(name, `${body("")} ${sql}; ${body(raising)}`)();
  expect(tested).toMatchObject({
    result: "failed",
    reason: expect.stringContaining("the log of sandbox.database says why") as string,
  });
});

test("a dump that needs nothing more passes there", async () => {
  expect((await testOf("plain", "create extension pg_trgm")()).result).toBe("passed");
});
