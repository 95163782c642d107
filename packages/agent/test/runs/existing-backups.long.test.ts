import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/config/source-limits.ts";
import { parseSourceConfig, type SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { initRestic } from "./restic-repository.ts";
import { seenIn } from "./earlier-tests-in.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const SECRET = "hush-hush";

let place: TestPlace;
let postgres: SourcePostgres;
let mariadb: SourceMariadb;
let directory: string;
let made = 0;

const run = (command: string, env: Record<string, string> = {}): Buffer =>
  execFileSync("sh", ["-euc", command], {
    env: { ...process.env, ...postgres.environment, ...env },
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });

beforeAll(async () => {
  place = await makeTestPlace();
  postgres = await startSourcePostgres(place.dir);
  postgres.sql(`create role app; create table orders (id int primary key, note text); insert into orders select i, 'secret ' || i from generate_series(1, 1000) i;
    alter table orders owner to app; grant select on orders to app; create table tags (t text); insert into tags values ('a\\tb'), (E'\\\\restrict x');`);
  mariadb = await startSourceMariadb(place.dir);
  mariadb.sql(
    `create database shop; use shop; create table orders (id int primary key, total int check (total > 0), unique (total)); insert into orders (id) values (1), (2), (3);
    create table parts (o int, foreign key (o) references orders (id)); create trigger t before insert on parts for each row set new.o = new.o; create trigger u after insert on parts for each row do 1;
    create procedure p() select 1; create event e on schedule every 1 day do select 1; create view v as select * from orders;`,
  );
});

afterAll(async () => {
  await mariadb?.close();
  await postgres?.close();
  await place?.remove();
});

beforeEach(() => {
  directory = join(place.dir, `dumps-${(made += 1)}`);
  mkdirSync(directory);
});

const source = (more: Partial<SourceConfigOf<"dumps">> = {}): SourceConfigOf<"dumps"> => ({
  slug: "legacy",
  engine: "dumps",
  sandbox: "process",
  checkTimeout_s: 60,
  checks: [],
  place: { kind: "directory", path: directory },
  pattern: "*",
  min_age_s: 0,
  max_age_s: null,
  min_bytes: 1,
  ...more,
});

const back = (of: SourceConfigOf<"dumps"> | SourceConfigOf<"restic">): Promise<MadeBackup> =>
  backUp(place, of);

async function testIt(
  of: SourceConfigOf<"dumps"> | SourceConfigOf<"restic">,
  backup: MadeBackup,
  passed?: RestoreTestResult,
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, of, backup, {
    seen: passed === undefined ? undefined : seenIn(passed.checks),
  });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

const failedOf = ({ checks }: RestoreTestResult) =>
  checks.filter(({ result }) => result === "failed").map(({ id }) => id);
const controlOf = (tested: RestoreTestResult, of: string) =>
  tested.checks.find(({ id }) => id === of)?.negative_control;
const constraintsOf = ({ checks }: RestoreTestResult) =>
  checks.find(({ id }) => id === "inferred:foreign_keys");
const kindsOf = (tested: RestoreTestResult | undefined) =>
  tested?.checks.find(({ id }) => id === "inferred:kinds");

const DUMPS: readonly [name: string, command: string, format: string, check: string][] = [
  ["a.dump", "pg_dump -Fc -f a.dump postgres", "pg_dump-custom", "select count(*) as n from orders"],
  ["a.sql.gz", "pg_dump postgres | gzip >a.sql.gz", "pg_dump-plain", "select count(*) as n from orders"],
  ["a.sql.zst", "pg_dump postgres | zstd -q >a.sql.zst", "pg_dump-plain", "select count(*) as n from orders"],
  ["a.tar", "pg_dump -Ft -f a.tar postgres", "pg_dump-tar", "select count(*) as n from orders"],
  [
    "a.db",
    'sqlite3 a.db "create table orders (id); insert into orders select value from generate_series(1, 1000)"',
    "sqlite3-file",
    "select count(*) as n from orders",
  ],
];

describe("a directory of dumps", () => {
  test.each(DUMPS)("%s is restored and proven", async (name, command, format, query) => {
    run(command);
    const of = source({ checks: [{ id: "orders", query, expect: "n = 1000" }] });
    const backup = await back(of);
    const sha256 = createHash("sha256")
      .update(readFileSync(join(directory, name)))
      .digest("hex");
    // The receipt names the file by its digest, as it lies there.
    expect(backup.sourceMetadata).toMatchObject({
      engine: "dumps",
      dump_format: `reference:${format}`,
      original: { name, sha256 },
    });
    expect(JSON.stringify(backup.sourceMetadata)).not.toContain(directory);
    const tested = await testIt(of, backup);
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    expect(tested.checks.map(({ id }) => id)).toContain("inferred:data");
    // What others dumped is ruined like any copy, to see whether the check can fail.
    const orders = format === "sqlite3-file" ? "orders" : "public.orders";
    expect(controlOf(tested, "orders")).toMatchObject({ noticed: [`an empty ${orders}`], not_tried: [] });
    const tables = format === "sqlite3-file" ? "1 table" : "2 tables";
    const objects = format.startsWith("pg_dump") ? "3 objects compared$" : "objects not compared";
    expect(comparedContentText(tested.checks)).toMatch(
      new RegExp(`^content of ${tables} compared; ${objects}`),
    );

    // Each has its way to be cut short, and to be changed afterwards.
    const whole = readFileSync(join(directory, name));
    writeFileSync(join(directory, name), whole.subarray(0, Math.floor(whole.length * 0.9)));
    expect(await testIt(of, backup)).toMatchObject({ result: "failed", checks: [] });
    const flipped = Buffer.from(whole);
    flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(directory, name), flipped);
    expect(await testIt(of, backup)).toMatchObject({ result: "failed", checks: [] });
    rmSync(join(directory, name));
    await expect(testIt(of, backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
    // One that was cut before anybody registered it.
    writeFileSync(join(directory, name), whole.subarray(0, Math.floor(whole.length * 0.9)));
    const cut = await back(of).catch(() => null);
    if (cut !== null) expect((await testIt(of, cut)).result).toBe("failed");
  });

  test("several dumps of pg_dump in a file are restored, and refused if one was cut short", async () => {
    run("createdb other && psql -qc 'create table others (n int)' other && pg_dump other >other.sql");
    run("pg_dump postgres >own.sql && pg_dump -t tags postgres >tags.sql");
    run("cat tags.sql other.sql >small && cat other.sql own.sql >whole");
    const of = source({ pattern: "whole" });
    expect((await testIt(of, await back(of))).reason).toBeUndefined();
    run("mv small whole");
    expect((await testIt(of, await back(of))).reason).toBeUndefined();
    // Without the lines with which newer versions restrict psql. It would stop there.
    run(
      "sed '/^CREATE TABLE/,$d; /^.restrict/d' other.sql >whole && sed '/^.\\(un\\)\\?restrict /d' own.sql >>whole",
    );
    expect((await testIt(of, await back(of))).reason).toContain(
      "the file has several dumps, and one was cut",
    );
  });

  test("an SQL dump that has lines of another dump in a function, a comment and a row passes", async () => {
    const other =
      "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 9.1\n-- Name: x; Type: TABLE; Schema: public; Owner: x\nCREATE TABLE x ();\n";
    postgres.sql(`create database docs template template0;
      \\connect docs
      create table pages (id int, body text); insert into pages values (1, 'it''s: \n${other}');
      comment on table pages is '${other}';
      create function sample() returns text language sql as $$ select '${other}' $$`);
    for (const options of ["", "--inserts"]) {
      run(`pg_dump ${options} docs >docs.sql`);
      const of = source();
      const tested = await testIt(of, await back(of));
      expect(tested.reason).toBeUndefined();
      const objects = tested.checks.find(({ id }) => id === "inferred:objects");
      expect(objects?.observed).toMatchObject({ objects: 3, differing: 0 });
      expect(objects?.observed).not.toHaveProperty("not_compared");
    }
  });

  test("a dump that quotes every name passes, and its objects are compared; so does one of a database that does", async () => {
    postgres.sql(`create database quoting template template0;
      \\connect quoting
      create schema app; create type app.mood as enum ('sad', 'ok');
      create table app.t (id int primary key, m app.mood default 'ok'); insert into app.t values (1);
      create function app.f(a text, m app.mood, "C" "char"[]) returns int language sql immutable as 'select 1';
      create procedure app.p(a int, variadic t text[]) language sql as 'select 1';
      create aggregate app.total(app.mood) (sfunc = array_append, stype = app.mood[]);
      create index on app.t (m); create view app.v as select id from app.t`);
    const objectsOf = async (made: string) => {
      run(`pg_dump ${made}`, { PGDATABASE: "quoting" });
      const of = source();
      const tested = await testIt(of, await back(of));
      expect(tested.reason).toBeUndefined();
      return tested.checks.find(({ id }) => id === "inferred:objects")?.observed;
    };
    const plain = await objectsOf("--quote-all-identifiers >docs.sql");
    expect(plain).toMatchObject({ objects: 10, differing: 0 });
    expect(plain).not.toHaveProperty("not_compared");
    // pg_restore prints a schema's name by itself, without quotes.
    const archive = await objectsOf("-Fc --quote-all-identifiers >docs.dump");
    expect(archive).toMatchObject({ objects: 9, differing: 0, not_compared_objects: "schema app" });
    postgres.sql("alter database quoting set quote_all_identifiers = on");
    expect(await objectsOf("-Fc >docs.dump")).toMatchObject({ differing: 0 });
  });

  test("mysqldump's, without the name of a database in it", async () => {
    const socket = decodeURIComponent(/socket=(.*)$/.exec(mariadb.url("root", ""))?.[1] ?? "");
    const dump = (options: string): Buffer =>
      run(`mariadb-dump --no-defaults --socket=${socket} --user=root ${options} shop >shop.sql`);
    dump("--routines --events");
    const of = source({
      checks: [{ id: "orders", query: "select count(*) as n from orders", expect: "n = 3" }],
    });
    const backup = await back(of);
    const tested = await testIt(of, backup);
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    expect(kindsOf(tested)?.observed).toEqual({
      objects: 10,
      indexes: 3,
      constraints: 2,
      triggers: 2,
      functions: 1,
      views: 1,
      events: 1,
    });
    expect(controlOf(tested, "orders")?.noticed).toEqual(["an empty restored.orders"]);
    expect(comparedContentText(tested.checks)).toContain("content of 2 tables compared");
    const objects = tested.checks.find(({ id }) => id === "inferred:objects");
    expect(objects?.observed).toMatchObject({ objects: 10, differing: 0, compared_with: "dump" });
    expect(objects?.observed).not.toHaveProperty("not_compared");
    expect(constraintsOf(tested)).toMatchObject({ result: "passed", observed: { foreign_keys: 1 } });
    dump("--skip-triggers");
    const lost = await testIt(of, await back(of), tested);
    expect(failedOf(lost)).toEqual(["inferred:kinds"]);
    expect(lost.reason).toContain(
      "0 triggers, and passed tests of the last 30 days saw up to 2; 0 functions, and passed tests of the last 30 days saw up to 1; 0 events",
    );
    run("sed -i '/Dump completed/d' shop.sql");
    expect((await testIt(of, await back(of))).reason).toContain("cut short");

    // The server's own databases are declared, and no copy gets them.
    dump("--routines --databases mysql");
    const whole = await testIt(of, await back(of));
    expect(whole.reason).toBeUndefined();
    expect(whole.checks.find(({ id }) => id === "inferred:objects")?.observed["objects"]).toBe(10);

    dump("");
    run("cp shop.sql one && sed '/^LOCK TABLES/,$d' one >shop.sql && cat one >>shop.sql");
    expect((await testIt(of, await back(of))).reason).toContain(
      "the file has several dumps, and one was cut",
    );
  });

  test("zeros in the place of gzip's last piece, which gzip itself ignores, hide no lost end", async () => {
    run("pg_dump postgres >whole.sql; dd if=/dev/zero bs=1024 count=8 status=none >zeros");
    run("mkdir t; cp zeros t/1; date >t/2; tar -cf whole.tar t/1 t/2; rm -r t");
    // At the end of t/1, which has nothing but zeros, as an archive's end has.
    run("head -c $((512 + 8192)) whole.tar >begin.tar; head -n -5 whole.sql >begin.sql");
    const tested = async (command: string): Promise<RestoreTestResult> => {
      run(`rm -f dump.*; ${command}`);
      const of = source({ pattern: "dump.*" });
      return testIt(of, await back(of));
    };
    for (const kind of ["sql", "tar"]) {
      const whole = await tested(`(gzip <whole.${kind}; cat zeros) >dump.${kind}.gz`);
      expect(whole.reason).toBeUndefined();
      for (const lost of [
        `(gzip <begin.${kind}; cat zeros) >dump.${kind}.gz`,
        `cp begin.${kind} dump.${kind}`,
        `(gzip <whole.${kind}; cat zeros; date) >dump.${kind}.gz`,
      ])
        expect(await tested(lost), lost).toMatchObject({ result: "failed", checks: [] });
    }
  });

  test("a tar of files is restored, and links out of it lead nowhere", async () => {
    mkdirSync(join(directory, "tree"));
    writeFileSync(join(directory, "tree", "f"), "content");
    symlinkSync("/tmp", join(directory, "tree", "out"));
    run("tar -czf tree.tgz tree && rm -r tree");
    const of = source({ checks: [{ id: "f", query: "tree/f", expect: "bytes = 7" }] });
    const tested = await testIt(of, await back(of));
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    expect(controlOf(tested, "f")?.noticed).toEqual(["an empty tree/f"]);
    expect(comparedContentText(tested.checks)).toBe("content and times compared; not compared: owners");
    expect(tested.checks.find(({ id }) => id === "inferred:manifest")?.result).toBe("passed");
    run("mkdir e; touch e/1 e/2; tar -czf tree.tgz e; rm -r e");
    const hollow = await back(source());
    // Metadata that came over the wire cannot make an empty tree count as full.
    for (const said of [{}, { restored_files: 2 }])
      expect(
        await testIt(source(), { ...hollow, sourceMetadata: { ...hollow.sourceMetadata, ...said } }),
      ).toMatchObject({ result: "failed", reason: expect.stringContaining("bytes > 0") });
    run(
      "mkdir e; ln -s /tmp e/l; tar -cf evil.tar e/l; rm -r e; mkdir -p e/l; touch e/l/attestore-was-here; tar -rf evil.tar e/l/attestore-was-here; rm -r e tree.tgz",
    );
    await testIt(source(), await back(source())).catch(() => null);
    expect(existsSync("/tmp/attestore-was-here")).toBe(false);
  });

  test("a tar that is not restored whole, or cannot be compared, says so", async () => {
    const last = async (command: string, more: Partial<SourceConfigOf<"dumps">> = {}) => {
      run(`rm -rf *; echo one >a; echo two >b; ${command}; find . -type f ! -name x.tar -delete`);
      const of = source({ pattern: "x.tar", ...more });
      return testIt(of, await back(of));
    };
    const twice = await last("tar -cf x.tar a b; echo three >a; tar -rf x.tar a");
    expect(twice.result).toBe("passed");
    expect(comparedContentText(twice.checks)).toBe("content not compared (a name comes twice)");
    const joined = last("tar -cf 1 a; tar -cf 2 b; cat 1 2 >x.tar");
    await expect(joined).rejects.toMatchObject({ code: "sandbox_lacks" });
    const device = last("mknod null c 1 3; tar -cf x.tar a null; rm null");
    await expect(device).rejects.toMatchObject({ code: "sandbox_lacks" });
    const limits = { ...DEFAULT_LIMITS, logicalBytes: 2 ** 30 };
    for (const format of ["posix", "gnu"]) {
      const large = await last(`truncate -s 2G h; echo x >>h; tar --format=${format} -Scf x.tar a h; rm h`, {
        limits,
      });
      expect(large).toMatchObject({ result: "failed", reason: expect.stringContaining("logical_bytes") });
    }
  });

  test("a shell command in SQL never runs, wherever it is", async () => {
    const marker = "/tmp/attestore-plain-was-here";
    run("pg_dump postgres >a.sql");
    const sql = readFileSync(join(directory, "a.sql"), "utf8");
    for (const evil of [
      `${sql}\\! touch ${marker}\n`,
      sql.replace("SET statement_timeout", `\\! touch ${marker}\nSET statement_timeout`),
      sql.replace("CREATE TABLE", `\\unrestrict a\n\\! touch ${marker}\nCREATE TABLE`),
      sql.replace("SET statement_timeout", `select 1 \\! touch ${marker}\n;SET statement_timeout`),
    ]) {
      writeFileSync(join(directory, "a.sql"), evil);
      const tested = await testIt(source(), await back(source()));
      expect(tested).toMatchObject({ result: "failed", checks: [] });
      expect(existsSync(marker)).toBe(false);
    }
  });

  const BEYOND: readonly [statement: string, named: string][] = [
    ["copy public.told from program 'echo ran'", "COPY from a program"],
    ["copy public.told from '/etc/passwd'", "COPY from a file"],
    ["insert into public.told select pg_read_file('/etc/passwd')", "the function pg_read_file"],
    ["alter system set archive_command = 'echo ran'", "the setting archive_command"],
    ["create extension file_fdw with schema public", "the extension file_fdw"],
    ["create function public.c() returns int language c as 'libc', 'abs'", "a function in the language c"],
    ["set role attestore; copy public.told from program 'echo ran'", "the right to set role"],
    ["alter role attestore_load superuser; copy public.told from program 'echo ran'", ""],
    ["grant pg_execute_server_program to attestore_load; copy public.told from program 'echo ran'", ""],
    ["do $$ begin copy public.told from program 'echo ran'; end $$", "COPY from a program"],
  ];
  test("SQL that needs a superuser could not run, and the message says what needs one", async () => {
    run("pg_dump postgres >whole.sql");
    const sql = readFileSync(join(directory, "whole.sql"), "utf8");
    rmSync(join(directory, "whole.sql"));
    for (const [statement, named] of BEYOND) {
      const told = `create table public.told (what text);\n${statement};\n`;
      writeFileSync(
        join(directory, "a.sql"),
        sql.replace(
          "-- PostgreSQL database dump complete",
          () => `${told}-- PostgreSQL database dump complete`,
        ),
      );
      const tested = testIt(source(), await back(source()));
      await expect(tested, statement).rejects.toMatchObject({
        code: "sandbox_lacks",
        message: expect.stringContaining(`the dump needs ${named}`),
      });
    }
  });

  test("code that SQL left in a check's way is not run as a superuser", async () => {
    run("pg_dump postgres >a.sql");
    const sql = readFileSync(join(directory, "a.sql"), "utf8");
    const trap = `create table public.told (what text);
      create function public.trap() returns bigint language plpgsql as $$ begin copy public.told from program 'echo ran'; return 1; end $$;
      create view public.counted as select public.trap() as n;\n`;
    writeFileSync(
      join(directory, "a.sql"),
      sql.replace(
        "-- PostgreSQL database dump complete",
        () => `${trap}-- PostgreSQL database dump complete`,
      ),
    );
    const of = source({
      checks: [
        { id: "trap", query: "select n from counted, orders limit 1", expect: "n = 1" },
        {
          id: "who",
          query: "select count(*) as n from pg_roles, orders where rolname = current_user and rolsuper",
          expect: "n = 0",
        },
      ],
    });
    const tested = await testIt(of, await back(of));
    expect(tested.reason).toContain("check trap failed");
    const [trapped, who] = tested.checks.filter(({ id }) => id === "trap" || id === "who");
    expect(trapped).toMatchObject({ result: "failed" });
    expect(JSON.stringify(trapped)).toMatch(/42501|read-only/);
    expect(who).toMatchObject({ result: "passed" });
  });

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
    expect(lost.reason).toContain("0 indexes, and passed tests of the last 30 days saw up to 3");
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

  test("an SQLite file without its indexes and triggers does not pass, one without half of them does", async () => {
    const schema = (...more: string[]): Buffer =>
      run(
        `rm -f a.db; sqlite3 a.db "create table t (a, b); insert into t values (1, 2); ${more.map((each) => `${each};`).join("")}"`,
      );
    const [byA, byB] = ["create index a on t (a)", "create index b on t (b)"];
    const trigger = "create trigger c after delete on t begin select 1; end";
    schema(byA, byB, trigger);
    const passed = await testIt(source(), await back(source()));
    expect(kindsOf(passed)).toMatchObject({ result: "passed", observed: { indexes: 2, triggers: 1 } });
    schema(byB, trigger);
    expect((await testIt(source(), await back(source()), passed)).result).toBe("passed");
    for (const [left, lost] of [
      [[byA, byB], "0 triggers"],
      [[trigger], "0 indexes"],
      [[], "0 indexes, and passed tests of the last 30 days saw up to 2; 0 triggers"],
    ] as const) {
      schema(...left);
      const tested = await testIt(source(), await back(source()), passed);
      expect(failedOf(tested)).toEqual(["inferred:kinds"]);
      expect(tested.reason).toContain(lost);
    }
  });

  test("a table emptied since the last pass, a table gone, and a database without a row do not pass", async () => {
    run("pg_dump -Fc -f a.dump postgres");
    const passed = await testIt(source(), await back(source()));
    expect(passed.result).toBe("passed");
    postgres.sql("create database later template postgres");
    const env = { PGDATABASE: "later" };
    run("psql -Xqc 'truncate orders'; pg_dump -Fc -f a.dump", env);
    const emptied = await testIt(source(), await back(source()), passed);
    expect(emptied.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
      "inferred:rows:public.orders",
      "inferred:total",
    ]);
    run("psql -Xqc 'drop table orders'; pg_dump -Fc -f a.dump", env);
    const gone = await testIt(source(), await back(source()), passed);
    // Its key went with it.
    expect(failedOf(gone)).toEqual(["inferred:kept", "inferred:kinds", "inferred:total"]);
    run("psql -Xqc 'truncate tags'; pg_dump -Fc -f a.dump", env);
    const nothing = await testIt(source(), await back(source()));
    expect(nothing.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
      "inferred:data",
    ]);
  });

  test("takes the newest file that matches, is complete, large enough and not too old", async () => {
    run(
      "mkdir -p 2026-11-20 2026-11-21; pg_dump -Fc -f 2026-11-20/a.dump postgres; cp 2026-11-20/a.dump 2026-11-21/a.dump; echo x >2026-11-21/b.dump",
    );
    const at = (name: string, age_s: number): void => {
      const time = Date.now() / 1000 - age_s;
      utimesSync(join(directory, name), time, time);
    };
    at("2026-11-20/a.dump", 90_000);
    at("2026-11-21/a.dump", 3_600);
    at("2026-11-21/b.dump", 30);
    const chosen = async (more: Partial<SourceConfigOf<"dumps">>): Promise<unknown> =>
      (await back(source({ pattern: "*/?.dump", ...more }))).sourceMetadata["original"];
    expect(await chosen({ min_age_s: 60 })).toMatchObject({
      modified_at: statSync(join(directory, "2026-11-21/a.dump")).mtime.toISOString(),
    });
    expect(await chosen({ min_age_s: 7_200 })).toMatchObject({
      modified_at: statSync(join(directory, "2026-11-20/a.dump")).mtime.toISOString(),
    });
    expect(await chosen({ min_bytes: 100 })).toMatchObject({ name: "a.dump" });
    await expect(chosen({})).rejects.toMatchObject({ code: "dump_failed" });
    await expect(chosen({ min_age_s: 60, max_age_s: 60 })).rejects.toMatchObject({ code: "source_missing" });
    await expect(chosen({ min_age_s: 100_000 })).rejects.toMatchObject({ code: "source_changed" });
    await expect(chosen({ min_bytes: 1 << 30 })).rejects.toMatchObject({ code: "source_missing" });
    await expect(chosen({ pattern: "*.gone" })).rejects.toMatchObject({ code: "source_missing" });
    // A file of the future would be the newest, and new, for ever.
    at("2026-11-20/a.dump", -90_000);
    await expect(chosen({ min_bytes: 100, max_age_s: 60 })).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringContaining("in the future"),
    });
    at("2026-11-20/a.dump", -60);
    expect(await chosen({ min_bytes: 100, max_age_s: 60 })).toMatchObject({ name: "a.dump" });
  });

  test("a newest file that is dated in the future, or empty, is not passed over for an older one", async () => {
    run("pg_dump -Fc -f orders-20.dump postgres; cp orders-20.dump orders-21.dump; touch orders-21.done");
    const at = (name: string, age_s: number): void => {
      const time = Date.now() / 1000 - age_s;
      utimesSync(join(directory, name), time, time);
    };
    const chosen = (): Promise<unknown> =>
      back(source({ pattern: "*", min_age_s: 60, max_age_s: 90_000 })).then(
        ({ sourceMetadata }) => (sourceMetadata["original"] as { name: string }).name,
      );
    at("orders-20.dump", 86_400);
    at("orders-21.dump", -7_200);
    await expect(chosen()).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringContaining("orders-21.dump, is dated 7"),
    });
    at("orders-21.dump", 3_600);
    writeFileSync(join(directory, "orders-21.dump"), "");
    at("orders-21.dump", 3_600);
    await expect(chosen()).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringMatching(
        /orders-21\.dump is empty, and newer than the newest dump, orders-20\.dump: the job/,
      ),
    });
    // Files of other kinds are often empty.
    run("cp orders-20.dump orders-21.dump");
    at("orders-21.dump", 3_600);
    at("orders-21.done", 3_500);
    expect(await chosen()).toBe("orders-21.dump");
  });

  test.each([
    ["pg_dumpall >a.dump", "by pg_dumpall: dump each database separately"],
    ["pg_dump postgres | age -r $RECIPIENT >a.dump", "encrypted with age: decrypt it first"],
    ["pg_dump postgres | age -a -r $RECIPIENT >a.dump", "encrypted with age: decrypt it first"],
    ["pg_dump postgres | $GPG --symmetric >a.dump", "encrypted with GnuPG: decrypt it first"],
    ["pg_dump postgres | $GPG --armor --symmetric >a.dump", "encrypted with GnuPG: decrypt it first"],
    ["pg_dump postgres | openssl enc -aes-256-ctr -pbkdf2 -pass pass:x >a.dump", "with openssl: decrypt it"],
    ["pg_dump postgres | xz >a.dump", "xz: use gzip or zstd"],
    ["python3 -m zipfile -c a.dump /etc/hostname", "zip archive"],
    ["sqlite3 a.db 'create table t (n)' .dump >a.dump", "(.dump): copy the database"],
    ["pg_dump postgres | iconv -t UTF-16 >a.dump", "a byte order mark"],
    [": | gzip >a.dump", "it is empty"],
    ["echo 0123 a.sql >a.dump", "If it is no dump, choose another"],
  ])(
    "a file that cannot be restored here is not registered, and the message says what it is: %s",
    async (command, what) => {
      const gpg = "gpg --batch --quiet --homedir . --passphrase x --pinentry-mode loopback";
      run(command, { RECIPIENT: place.recipient, GPG: gpg });
      run("gpgconf --homedir . --kill all");
      await expect(back(source({ pattern: "a.dump" }))).rejects.toMatchObject({
        code: "dump_failed",
        message: expect.stringContaining(what),
      });
    },
  );

  test("a file of eight days ago is no backup, unless any age is allowed", async () => {
    run("pg_dump -Fc -f a.dump postgres");
    const as = (max_age_s?: unknown): SourceConfigOf<"dumps"> =>
      parseSourceConfig(
        "legacy",
        { engine: "dumps", path: directory, ...(max_age_s === undefined ? {} : { max_age_s }) },
        place.dir,
      ) as SourceConfigOf<"dumps">;
    const at = (age_s: number): void => {
      const time = Date.now() / 1000 - age_s;
      utimesSync(join(directory, "a.dump"), time, time);
    };
    at(8 * 86_400 - 60);
    await back(as());
    at(8 * 86_400 + 60);
    await expect(back(as())).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringMatching(/a\.dump, is from 20.*Z, but may be at most 8 days old: .* max_age_s/),
    });
    await back(as(9 * 86_400));
    await back(as("any"));
    expect(() => as("never")).toThrow("max_age_s: must be any, or a whole number of seconds from 1");
  });

  test("the file's place taken by another, or by a link out of the directory", async () => {
    run("pg_dump -Fc -f a.dump postgres");
    const backup = await back(source());
    renameSync(join(directory, "a.dump"), join(place.dir, "elsewhere.dump"));
    symlinkSync(join(place.dir, "elsewhere.dump"), join(directory, "a.dump"));
    await expect(testIt(source(), backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  });
});

describe("a restic repository", () => {
  const restic = (more: Partial<SourceConfigOf<"restic">> = {}): SourceConfigOf<"restic"> => ({
    slug: "archive",
    engine: "restic",
    sandbox: "process",
    checkTimeout_s: 60,
    checks: [],
    repository: join(directory, "repo"),
    password: { kind: "env", name: "TEST_RESTIC_PASSWORD" },
    tags: [],
    host: null,
    file: null,
    max_age_s: null,
    as_agent: false,
    ...more,
  });
  const cli = (args: string): Buffer =>
    run(`restic --quiet --no-cache ${args}`, {
      RESTIC_REPOSITORY: join(directory, "repo"),
      RESTIC_PASSWORD: SECRET,
    });

  let whole: string;

  beforeAll(() => {
    whole = directory = join(place.dir, "restic");
    mkdirSync(join(directory, "tree"), { recursive: true });
    run("pg_dump -Fc -f tree/a.dump postgres; seq 1 100000 >tree/numbers");
    initRestic(join(directory, "repo"), SECRET);
    cli("backup --tag nightly,db tree");
  });

  beforeEach(() => {
    process.env["TEST_RESTIC_PASSWORD"] = SECRET;
    run(`cp -a ${whole}/. .`);
  });

  test("a tree, and a dump in a snapshot, are restored and proven", async () => {
    const tree = restic({
      tags: ["db"],
      checks: [{ id: "numbers", query: "tree/numbers", expect: "bytes = 588895" }],
    });
    const backup = await back(tree);
    const listed = JSON.parse(cli("snapshots --json").toString()) as { id: string; tree: string }[];
    expect(backup.sourceMetadata).toMatchObject({
      engine: "restic",
      original: { snapshot_id: listed[0]?.id, tree_id: listed[0]?.tree },
    });
    const tested = await testIt(tree, backup);
    expect(tested.reason).toBeUndefined();
    expect(tested).toMatchObject({ result: "passed", runtime: { engine: "restic" } });

    const file = restic({
      file: "/tree/a.dump",
      checks: [{ id: "n", query: "select count(*) as n from orders", expect: "n = 1000" }],
    });
    const dumped = await testIt(file, await back(file));
    expect(dumped.reason).toBeUndefined();
    expect(dumped).toMatchObject({ result: "passed", runtime: { engine: "postgresql" } });
    expect(cli("list locks").toString()).toBe("");

    cli("backup --tag old --time '2020-01-01 00:00:00' tree");
    const old = (more: object): SourceConfigOf<"restic"> =>
      parseSourceConfig(
        "archive",
        {
          engine: "restic",
          repository: join(directory, "repo"),
          password: "env:TEST_RESTIC_PASSWORD",
          tags: ["old"],
          ...more,
        },
        place.dir,
      ) as SourceConfigOf<"restic">;
    await expect(back(old({}))).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringMatching(/is from (?:2020|2019)-.*, but may be at most 8 days old/),
    });
    await back(old({ max_age_s: "any" }));

    // One of the future would be the newest, and new, for ever.
    cli("backup --time '2099-01-01 00:00:00' tree");
    await expect(back(restic({ max_age_s: 60 }))).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringContaining("in the future"),
    });
  });

  test("a snapshot that restic cannot read is not passed over for an older one", async () => {
    cli("backup tree");
    const [newest] = JSON.parse(cli("snapshots --json latest").toString()) as { id: string }[];
    const file = `repo/snapshots/${newest?.id}`;
    run(`chmod -R u+w repo; cp ${file} whole; printf x | dd of=${file} bs=1 seek=20 conv=notrunc`);
    for (const tags of [[], ["nightly"]])
      await expect(back(restic({ tags }))).rejects.toMatchObject({
        code: "dump_failed",
        message: expect.stringMatching(
          /cannot read 1 snapshot of the repository \([0-9a-f]{8}\).*restic check/,
        ),
      });
    run(`cp whole ${file}`);
    expect((await back(restic())).sourceMetadata["original"]).toMatchObject({ snapshot_id: newest?.id });
  });

  test("a place without a repository is said to be one", async () => {
    mkdirSync(join(directory, "empty"));
    await expect(back(restic({ repository: join(directory, "empty") }))).rejects.toMatchObject({
      code: "ciphertext_unavailable",
      message: expect.stringContaining("there is no restic repository"),
    });
  });

  test("a dump that its own job no longer writes is no backup, however new the snapshot is", async () => {
    const written = Date.now() / 1000 - 9 * 86_400;
    utimesSync(join(directory, "tree/a.dump"), written, written);
    cli("backup tree");
    const week = 7 * 86_400;
    for (const file of ["/tree/a.dump", "/tree//a.dump", "/./tree/a.dump"])
      await expect(back(restic({ file, max_age_s: week }))).rejects.toMatchObject({
        code: "source_missing",
        message: expect.stringMatching(
          /the newest dump, .*a\.dump in the snapshot [0-9a-f]{8}, is from 20.*, but may be at most 7 days old/,
        ),
      });
    await expect(back(restic({ file: "/tree/b.dump", max_age_s: week }))).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringMatching(/b\.dump is not in the snapshot [0-9a-f]{8}: check the source's file/),
    });
    await back(restic({ file: "/tree/a.dump", max_age_s: null }));
    await back(restic({ max_age_s: week }));
  });

  test("a tree of links, devices, pipes and set-user-ID programs reaches nothing outside of its place", async () => {
    const outside = join(directory, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "key"), "a secret");
    run(
      `cd tree; ln -s ${outside} out; ln -s ${outside}/key key; ln numbers hard; ln -s . loop; mkfifo pipe; mknod null c 1 3; mknod disk b 7 0;
       cp /bin/sh shell; chmod 4755 shell; mkdir closed; touch closed/f; chmod 000 closed`,
    );
    cli("backup tree");
    const tree = restic({
      checks: [
        { id: "numbers", query: "tree/numbers", expect: "bytes = 588895" },
        { id: "through", query: "tree/out/key", expect: "bytes > 0" },
        { id: "linked", query: "tree/key", expect: "bytes = 8" },
      ],
    });
    const tested = await testIt(tree, await back(tree));
    expect(tested.result).toBe("failed");
    const observed = new Map(tested.checks.map((check) => [check.id, check]));
    expect(observed.get("numbers")?.result).toBe("passed");
    expect(observed.get("through")?.observed).toMatchObject({
      error: expect.stringContaining("not a directory"),
    });
    expect(observed.get("linked")?.observed).toMatchObject({ bytes: 0, sha256: null });
    expect(readdirSync(outside)).toEqual(["key"]);
  });

  test("an extended attribute that restic cannot archive is named as the reason, without its value", async () => {
    run(`python3 -c "import os; os.setxattr('tree/numbers', 'user.a=b', b'a hidden value')"`);
    cli("backup tree");
    const error: unknown = await testIt(restic(), await back(restic())).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining("an extended attribute with = in its name"),
    });
    expect(String(error)).not.toContain("hidden");
  });

  test("damaged packs, a missing snapshot, a wrong password and no match do not pass", async () => {
    const backup = await back(restic());
    await expect(back(restic({ tags: ["other"] }))).rejects.toMatchObject({ code: "source_missing" });
    process.env["TEST_RESTIC_PASSWORD"] = "wrong";
    await expect(testIt(restic(), backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
    process.env["TEST_RESTIC_PASSWORD"] = SECRET;
    const packs = run("find repo/data -type f").toString().trim().split("\n");
    const largest =
      packs.toSorted((a, b) => statSync(join(directory, b)).size - statSync(join(directory, a)).size)[0] ??
      "";
    const pack = join(directory, largest);
    run(`chmod -R u+w repo`);
    const bytes = readFileSync(pack);
    const flipped = Buffer.from(bytes);
    flipped[1_000] = (flipped[1_000] ?? 0) ^ 1;
    for (const change of [
      () => writeFileSync(pack, flipped),
      () => writeFileSync(pack, bytes.subarray(0, 2_000)),
      () => rmSync(pack),
    ]) {
      change();
      expect((await testIt(restic(), backup)).result).toBe("failed");
    }
    writeFileSync(pack, bytes);
    expect((await testIt(restic(), backup)).result).toBe("passed");
    cli("forget --prune --keep-last 1 --tag nothing; restic --quiet --no-cache forget latest");
    // Whoever forgets snapshots does no damage: retention does, like that of a directory of dumps.
    await expect(testIt(restic(), backup)).rejects.toMatchObject({
      code: "ciphertext_unavailable",
      message: expect.stringMatching(
        /the snapshot [0-9a-f]{8} .* no longer in the repository: .*attestore backup/,
      ),
    });
  });

  test("the password is in no argument list", async () => {
    // With a key of restic's own, which keeps each restic long enough to be seen.
    run("rm -r repo");
    cli("init; restic --quiet --no-cache backup tree");
    const backing = back(restic());
    const seen: string[] = [];
    const watch = setInterval(
      () => seen.push(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" })),
      100,
    );
    await backing;
    clearInterval(watch);
    expect(seen.join("\n")).toContain("restic");
    expect(seen.join("\n")).not.toContain(SECRET);
  });
});
