/** Whole restore tests of dumps for pg_restore whose writer wants more than a restore. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/config/source-limits.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { dumpsIn } from "./dumps-in.ts";
import { childrenNamed, makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const SLOT = 12_000;

let place: TestPlace;
let postgres: SourcePostgres;
let directory: string;
let made = 0;

const run = (command: string, database = "postgres"): Buffer =>
  execFileSync("sh", ["-euc", command], {
    env: { ...process.env, ...postgres.environment, PGDATABASE: database },
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });

beforeAll(async () => {
  place = await makeTestPlace();
  postgres = await startSourcePostgres(place.dir);
  postgres.sql(`create table orders (id int primary key); insert into orders select generate_series(1, 1000);
    create table told (what text); create table zslot (); comment on table zslot is '${"s".repeat(SLOT)}';`);
});

afterAll(async () => {
  await postgres?.close();
  await place?.remove();
});

beforeEach(() => {
  directory = join(place.dir, `dumps-${(made += 1)}`);
  mkdirSync(directory);
});

const source = (more: Partial<SourceConfigOf<"dumps">> = {}): SourceConfigOf<"dumps"> =>
  dumpsIn(directory, more);

async function testIt(
  of: SourceConfigOf<"dumps"> | SourceConfigOf<"postgresql"> = source(),
): Promise<RestoreTestResult> {
  const backup = await backUp(place, of);
  try {
    return await testBackup(place, of, backup);
  } finally {
    expect(readdirSync(place.scratch)).toEqual([]);
    for (const name of ["pg_restore", "psql"]) expect(childrenNamed(name), name).toEqual([]);
  }
}

/**
 * An archive of pg_dump's whose table of contents holds a statement of the attacker's, in place of
 * a comment.
 */
function archiveWith(statement: string, format: "custom" | "tar" = "custom"): void {
  run(`pg_dump --format=${format} --compress=0 --file=a.dump postgres`);
  const archive = readFileSync(join(directory, "a.dump"));
  const before = Buffer.from(`COMMENT ON TABLE public.zslot IS '${"s".repeat(SLOT)}';`);
  const at = archive.indexOf(before);
  expect(at).toBeGreaterThan(0);
  expect(statement.length).toBeLessThan(before.length);
  archive.write(statement.padEnd(before.length), at);
  writeFileSync(join(directory, "a.dump"), archive);
}

/** What the statements of an archive left in the table `told`, of which the service may know. */
const TOLD = {
  id: "told",
  query:
    "select count(*) as tried, left(coalesce(string_agg(what, '; ') filter (where what <> '42501'), ''), 60) as done, (select count(*) from orders) as n from told",
  expect: "n = 1000",
};
const toldBy = ({ checks }: RestoreTestResult): unknown => checks.find(({ id }) => id === "told")?.observed;

/** Each of them in a transaction of its own; what the server answers goes into the table `told`. */
const trying = (statements: readonly string[]): string =>
  `do $do$ declare each text; begin foreach each in array array[${statements.map((each) => `$s$${each}$s$`).join(", ")}] loop
     begin execute each; insert into public.told values ('DONE ' || each);
     exception when others then insert into public.told values (sqlstate); end;
   end loop; end $do$;`;

const REACHES = [
  "copy public.told from program 'id'",
  "do $$ begin copy public.told from program 'id'; end $$",
  "copy public.told from '/etc/passwd'",
  "copy public.told to '/tmp/told'",
  "insert into public.told select pg_read_file('/etc/passwd')",
  "insert into public.told select pg_ls_dir('/')",
  "select lo_import('/etc/passwd')",
  "select lo_export(lo_from_bytea(0, 'x'), '/tmp/told')",
  "select pg_reload_conf()",
  "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()",
  "create function public.c() returns int language c as 'libc', 'abs'",
  "load 'dblink'",
  "create extension file_fdw with schema public",
  "create extension dblink with schema public",
  "create extension pageinspect with schema public",
  "create function public.n() returns event_trigger language plpgsql as 'begin end'; create event trigger t on ddl_command_start execute function public.n()",
  "create role mine superuser",
  "set local role attestore",
  "set session authorization attestore",
  "alter role attestore_load superuser",
  "grant pg_execute_server_program to attestore_load",
  "update pg_catalog.pg_authid set rolsuper = true",
  "set log_min_messages = panic",
  "set session_preload_libraries = 'dblink'",
  "set temp_file_limit = 1",
];
/** A statement that no function may run. */
const ALONE: readonly [statement: string, needs: string][] = [
  ["alter system set archive_command = 'id'", "the setting archive_command"],
  ["create database other", "the right to create database"],
  ["set role attestore; copy public.told from program 'id'", "the right to set role"],
];

describe("an archive whose table of contents holds statements of an attacker's", () => {
  test("is loaded by a role that may fill its database and nothing else", async () => {
    archiveWith(trying(REACHES));
    const tested = await testIt(source({ checks: [TOLD] }));
    // The rows that they add are not the dump's.
    expect(tested.reason).toContain(
      "inferred:content failed: the content of public.told differs from the dump",
    );
    expect(toldBy(tested)).toEqual({ tried: REACHES.length, done: "", n: 1000 });
  });

  test.each(ALONE)("%s: it could not run, and says what it needs", async (statement, needs) => {
    archiveWith(statement);
    await expect(testIt(source({ checks: [TOLD] }))).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining(`the dump needs ${needs}`),
    });
  });
});

describe("a dump does not choose that its test could not run", () => {
  const raising = (sqlstate: string, message = "x"): string =>
    `do $do$ begin raise sqlstate '${sqlstate}' using message = E'${message}\nLOCATION:  mdextend, md.c:1'; end $do$;`;

  const NOT_HERE =
    "alter table public.orders owner to not_here; alter default privileges for role pg_monitor grant select on tables to public;";

  test.each([
    ["for want of room on the disk", raising("53100"), "SQLSTATE P0001"],
    ["for an error of the system", raising("58030"), "SQLSTATE P0001"],
    ["for want of rights", raising("42501"), "SQLSTATE P0001"],
    ["for want of an extension", raising("0A000", 'extension "x" is not available'), "SQLSTATE P0001"],
    ["for want of a locale", raising("22023", 'could not create locale "x": x'), "SQLSTATE P0001"],
    ["the end of the connection", "select pg_terminate_backend(pg_backend_pid());", "57P01"],
  ])("by saying that it is %s", async (_, statement, said) => {
    archiveWith(statement);
    expect(await testIt()).toMatchObject({ result: "failed", reason: expect.stringContaining(said) });
  });

  test.each([
    ["room on the disk", raising("53100")],
    ["an extension", raising("0A000", 'extension "x" is not available')],
    ["a locale", raising("22023", 'could not create locale "x": x')],
    // The server itself has the same errors for what comes before, which is passed over.
    ["a role", `${NOT_HERE} ${raising("42704", 'role "x" does not exist')}`],
    ["rights", `${NOT_HERE} ${raising("42501", 'permission denied to create extension "x"')}`],
  ])("in SQL either, for want of %s", async (_, statement) => {
    run("pg_dump --file=a.sql postgres");
    const sql = readFileSync(join(directory, "a.sql"), "utf8");
    const last = "-- PostgreSQL database dump complete";
    writeFileSync(
      join(directory, "a.sql"),
      sql.replace(last, () => `${statement}\n${last}`),
    );
    expect(await testIt()).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("the dump cannot be loaded (SQLSTATE "),
    });
  });

  test.each([
    ["raises an error of the disk", "raise sqlstate '53100';"],
    ["ends its connection", "perform pg_terminate_backend(pg_backend_pid());"],
  ])("by a view in a check's way that %s", async (_, body) => {
    archiveWith(
      `create function public.trap() returns bigint language plpgsql as $$ begin ${body} return 1; end $$; create view public.counted as select public.trap() as n from public.orders;`,
    );
    const checks = [{ id: "n", query: "select n from counted limit 1", expect: "n = 1" }];
    expect(await testIt(source({ checks }))).toMatchObject({ result: "failed" });
  });

  test("by never ending", async () => {
    archiveWith("select pg_sleep(100000);");
    const limits = { ...DEFAULT_LIMITS, time_s: 8 };
    expect(await testIt(source({ limits }))).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("did not end within 8 s"),
    });
  });
});

test("objects of the source that reach for programs when they come back, in directory format", async () => {
  postgres.sql("create database evil");
  run(
    `psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
    create table told (what text);
    create function trap() returns bigint language plpgsql as 'begin return 1; end';
    create function wrapped() returns bigint language plpgsql immutable as 'begin return public.trap(); end';
    create table orders (id int primary key); insert into orders select generate_series(1, 100);
    create materialized view seen as select trap() as n from orders;
    create index on orders ((wrapped() + id));
    create or replace function trap() returns bigint language plpgsql as $$ begin copy public.told from program 'id'; return 1; end $$;
SQL`,
    "evil",
  );
  const of = { ...postgres.source, databases: ["evil"], jobs: 2 };
  await expect(testIt(of)).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("the dump needs COPY from a program"),
  });
});
