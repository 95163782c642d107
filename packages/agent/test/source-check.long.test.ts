import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceCheck } from "../src/engines/engine.ts";
import { PsqlSession } from "../src/engines/postgresql/connection/psql-session.ts";
import { programsIn } from "../src/processes/run-program.ts";
import { startSourcePostgres, type SourcePostgres } from "./runs/source-postgres.ts";
import { runCli } from "./service/cli.ts";

/** `source_check: amcheck`: the source itself is looked at before each backup. */

let base: string;
let server: SourcePostgres;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-source-check-"));
  server = await startSourcePostgres(join(base));
  server.sql(`create role reader login;
    grant pg_read_all_data to reader;
    create database shop;
    create database bare;
    \\c bare
    create table t (n int primary key);
    \\c shop
    create extension amcheck;
    grant execute on all functions in schema public to reader;
    create table orders (id int primary key, v text unique);
    insert into orders select i, 'value ' || i from generate_series(1, 2000) i;`);
  await cli(["init", "--standalone"]);
});
afterAll(async () => {
  await server.close();
  rmSync(base, { recursive: true });
});

const env = (): Record<string, string> => ({
  ATTESTORE_HOME: join(base, "root"),
  SHOP: server.url("reader", "", "shop"),
});

async function cli(args: string[], code = 0): Promise<Record<string, unknown>> {
  const done = await runCli([...args, "--json"], { env: env(), cwd: base });
  expect(done.code, done.stdout + done.stderr).toBe(code);
  return JSON.parse(done.stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
}

const config = (): string => join(base, "root/config.yaml");
let before = "";

function source(fields: string): void {
  before ||= readFileSync(config(), "utf8").replace(/^sources:.*$/m, "");
  writeFileSync(
    config(),
    `${before}\nsources: { shop: { engine: postgresql, connection: "env:SHOP"${fields} } }\n`,
  );
}

async function backUp(): Promise<SourceCheck> {
  return (await cli(["backup"]))["source_check"] as SourceCheck;
}

interface Status {
  readonly sources: readonly { readonly source_check: SourceCheck | null }[];
  readonly problems: readonly { readonly what: string }[];
  readonly advice: readonly { readonly what: string }[];
}

async function status(): Promise<Status> {
  const done = await runCli(["status", "--json"], { env: env(), cwd: base });
  return JSON.parse(done.stdout) as Status;
}

test("source_check is off by default, and takes one value", async () => {
  source("");
  expect(await backUp()).toBeNull();
  expect((await status()).sources[0]?.source_check).toBeNull();
  source(", source_check: everything");
  expect(await cli(["backup"], 2)).toMatchObject({ message: expect.stringContaining("must be amcheck") });
});

test("source_check finds an index that contradicts itself, and the backup is made all the same", async () => {
  source(", source_check: amcheck");
  const whole = await backUp();
  expect(whole).toMatchObject({ by: "amcheck", damaged: 0, not_checked: 0 });
  expect(whole.indexes).toBeGreaterThan(2);
  expect(whole.tables).toBeGreaterThan(1);
  expect((await status()).sources[0]?.source_check).toEqual(whole);

  // The order that an index was built in is no longer the order of its operators, as after an
  // update of the system's locales.
  server.sql(`\\c shop
    create function cmp(int, int) returns int language sql immutable as 'select case when $1 = $2 then 0 when $1 > $2 then 1 else -1 end';
    create operator class fickle for type int using btree as operator 1 < (int, int), operator 2 <= (int, int), operator 3 = (int, int),
      operator 4 >= (int, int), operator 5 > (int, int), function 1 cmp(int, int);
    create index turned on orders using btree (id fickle);
    create or replace function cmp(int, int) returns int language sql immutable as 'select case when $1 = $2 then 0 when $1 < $2 then 1 else -1 end';`);
  const damaged = await backUp();
  expect(damaged).toMatchObject({ damaged: 1, damaged_names: ["public.turned"], not_checked: 0 });
  const told = await status();
  expect(told.problems.map(({ what }) => what).join("\n")).toContain(
    "amcheck says that 1 of the source's indexes or tables are damaged: public.turned",
  );
  server.sql(
    "\\c shop\ndrop index turned; drop operator class fickle using btree; drop operator family fickle using btree; drop function cmp",
  );
});

test("an index is not called damaged because its function gives another result under amcheck", async () => {
  source(", source_check: amcheck");
  server.sql(`\\c shop
    create function changing(text) returns text language sql immutable as 'select $1';
    create index by_function on orders (changing(v));`);
  const { indexes } = await backUp();
  server.sql(
    "\\c shop\ncreate or replace function changing(text) returns text language sql immutable as 'select upper($1)'",
  );
  expect(await backUp()).toMatchObject({
    damaged: 0,
    // Half a look at one does not count.
    indexes: indexes - 1,
    not_checked: 1,
    not_checked_names: ["public.by_function: its rows, because its function gives another result here"],
  });
  server.sql("\\c shop\ndrop index by_function; drop function changing");
});

test("an index whose rows do not fit is not called damaged where its order could not be looked at", async () => {
  source(", source_check: amcheck");
  server.sql(`\\c shop
    create function changing(text) returns text language sql immutable as 'select $1';
    create index by_function on orders (changing(v));
    create or replace function changing(text) returns text language plpgsql immutable as $$ begin
      perform set_config('lock_timeout', '0', true), pg_advisory_xact_lock_shared(7);
      return upper($1);
    end $$`);
  const open = () =>
    PsqlSession.open(programsIn(server.bin), server.environment, new AbortController().signal, {
      database: "shop",
    });
  const [holder, locker] = [await open(), await open()];
  const waiting = async (condition: string): Promise<string> => {
    const found = await holder.run(`select exists (${condition})`);
    return found.ok ? found.output.trim() : found.message;
  };
  const until = (condition: string) => expect.poll(() => waiting(condition)).toBe("t");
  try {
    await holder.run("select pg_advisory_lock(7)");
    const backup = backUp();
    await until("select from pg_locks where locktype = 'advisory' and not granted");
    await locker.run("begin");
    const locked = locker.run("lock table public.orders in access exclusive mode");
    await until("select from pg_locks where mode = 'AccessExclusiveLock' and not granted");
    // What amcheck finds now frees the table for whoever waits for it.
    await holder.run("select pg_advisory_unlock(7)");
    expect(await locked).toMatchObject({ ok: true });
    // The second look has given up once the dump waits.
    await until("select from pg_stat_activity where wait_event_type = 'Lock' and query ilike 'lock table%'");
    await locker.run("rollback");
    const checked = await backup;
    expect(checked).toMatchObject({ damaged: 0 });
    // Perhaps others of the same table too, if they came after it.
    expect(checked.not_checked_names).toContain("public.by_function: locked");
  } finally {
    await locker.close();
    await holder.close();
    server.sql("\\c shop\ndrop index by_function; drop function changing");
  }
});

test("a restore test tells a person which constraints the source's rows break", async () => {
  source("");
  server.sql(`\\c shop
    create table lines (order_id int);
    insert into lines values (9999);
    alter table lines add constraint later foreign key (order_id) references orders not valid;`);
  await backUp();
  const tested = await runCli(["restore-test"], { env: env(), cwd: base });
  expect(tested.code, tested.stderr).toBe(0);
  expect(tested.stdout).toContain(
    "! rows break 1 constraint (public.lines.later (1, NOT VALID)). The source has them so, and they fail no test",
  );
});

test("objects that it could not check are named, and doctor says why", async () => {
  source(", source_check: amcheck, databases: [bare, shop]");
  const partly = await backUp();
  expect(partly.not_checked_names).toEqual(["bare: no amcheck that the role may run"]);
  expect(partly.indexes).toBeGreaterThan(2);
  expect((await status()).advice.map(({ what }) => what).join("\n")).toContain("amcheck did not look at 1");

  server.sql("\\c shop\nrevoke execute on all functions in schema public from reader");
  source(", source_check: amcheck");
  expect(await backUp()).toMatchObject({ indexes: 0, tables: 0, damaged: 0, not_checked: 1 });
  const doctor = await runCli(["doctor"], { env: env(), cwd: base });
  expect(doctor.stdout + doctor.stderr).toContain("source_check finds no amcheck that its role may run");
});
