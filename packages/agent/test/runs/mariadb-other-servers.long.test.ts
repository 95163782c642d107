import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** Sources unlike the scratch server: an undamaged backup passes, with everything compared. */

let place: TestPlace;
let server: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (databases: readonly string[]): Promise<MadeBackup> =>
  backUp(place, { ...server.source, databases });

/** Makes the database, backs it up and tests it. */
async function madeAndTested(
  sql: string,
  databases: readonly string[] = ["shop"],
): Promise<RestoreTestResult> {
  for (const name of databases) server.sql(`create or replace database ${name} character set latin1`);
  server.sql(`use ${databases[0] ?? ""}; ${sql}`);
  return testBackup(place, server.source, await back(databases));
}

function passes(tested: RestoreTestResult, compared: RegExp): void {
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toMatch(compared);
}

test("a database with the name of the one that another program's dump is loaded into", async () => {
  const tested = await madeAndTested(
    "create table t (a int); insert into t values (1); create procedure restored.p() select 1",
    ["shop", "restored"],
  );
  passes(tested, /^content of 1 table compared; 4 objects compared$/);
});

test("columns in the format of before MariaDB 10.1", async () => {
  const tested = await madeAndTested(
    `set global mysql56_temporal_format = off; create table old (d datetime(3), t time, ts timestamp null, n int comment ' /* mariadb-5.3 */');
     set global mysql56_temporal_format = on; insert into old values ('2020-01-01 00:00:00.123', '-838:59:59', '2020-01-01', 1)`,
  );
  passes(tested, /^content of 1 table compared; 2 objects compared$/);
});

test("a server with another row format for tables that name none", async () => {
  server.sql("set global innodb_default_row_format = compact");
  const tested = await madeAndTested("create table t (a int); insert into t values (1)");
  server.sql("set global innodb_default_row_format = default");
  passes(tested, /^content of 1 table compared; 2 objects compared$/);
});

test("partitions that the server adds as time goes by", async () => {
  const tested = await madeAndTested(
    `set timestamp = unix_timestamp('2026-11-01'); create table v (id int primary key, a int) with system versioning
       partition by system_time interval 1 day auto; insert into v values (1, 1); update v set a = 2`,
  );
  passes(
    tested,
    /^content of 1 table compared; 3 objects compared, not compared: partitions by time shop\.v$/,
  );
});

test("views that read the server's own databases", async () => {
  const tested = await madeAndTested(
    `create table t (a int); insert into t values (1); create view accounts as select user, host from mysql.user;
     create view code as select name, body from mysql.proc; create view version as select * from sys.version; create view size as select sys.format_bytes(a) from t`,
  );
  passes(tested, /^content of 1 table compared; 6 objects compared$/);
});

test("events that ended since the backup, and whether one that will end is on, are named as not compared", async () => {
  server.sql(
    `create or replace database shop; use shop; create table t (a int); insert into t values (1);
     create event soon on schedule at now() + interval 10 second do delete from t;
     create event later on schedule at '2037-01-01 00:00:00' on completion preserve do delete from t`,
  );
  const made = await back(["shop"]);
  const isOver = "now() > execute_at + interval 1 second";
  await expect
    .poll(() =>
      Number(server.sql(`select ${isOver} from information_schema.events where event_name = 'soon'`)),
    )
    .toBe(1);
  const tested = await testBackup(place, server.source, made);
  passes(
    tested,
    /^content of 1 table compared; 3 objects compared, not compared: status of event shop\.later, event that ends shop\.soon$/,
  );
});

test("a server that prints expressions in another way", async () => {
  server.sql("set global sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES', global div_precision_increment = 9");
  const tested = await madeAndTested(
    "create table t (a int default (1 + 1), b int as (a + 1) virtual); insert into t (a) values (1); create view v as select a / 3 as third from t",
  );
  server.sql("set global sql_mode = default, global div_precision_increment = default");
  passes(tested, /^content of 1 table compared; 3 objects compared$/);
});

test("values of ENUM and SET that a dump cannot tell from others are named as not compared", async () => {
  const tested = await madeAndTested(
    `set sql_mode = ''; create table t (exact enum('', 'a'), e enum('', 'a'), s set('a', ''), twice enum('x', 'x'), plain enum('a', 'b'));
     insert into t values ('a', 'none', 2, 2, 'none'), ('', 'a', 1, 1, 'a')`,
  );
  const named = ["e", "s", "twice"].map((column) => `shop\\.t\\.${column} \\(enum_ambiguous\\)`).join(", ");
  passes(tested, new RegExp(`^content of 1 table compared; not compared: ${named}; 2 objects compared$`));
});

test("views with joins, however somebody wrote them", async () => {
  const tested = await madeAndTested(
    `create table t (a int, j json); create table u (a int, b int); insert into t values (1, '[1]');
     create view commas as select t.a from t, u, t more where t.a = u.a and (u.b = 1 or u.b = 2) and more.a = 1;
     create view mixed as select t.a from t left join (u, t t2) on t.a = u.a, u v where exists (select 1 from u, t where u.a = v.a);
     create view listed as select t.a, x.v from t, json_table(t.j, '$[*]' columns (v int path '$')) x;
     create view nested as select t.a from t join (u join t t2 on t2.a = u.a) on t.a = u.a`,
  );
  passes(tested, /^content of 2 tables compared; 7 objects compared$/);
});

test("values that were computed in another time zone are named as not compared", async () => {
  const tested = await madeAndTested(
    `set time_zone = '+05:00'; create table t (at timestamp, h int as (hour(at)) stored); insert into t (at) values ('2020-01-01 12:00:00');
     create table u (gone timestamp null, shown int as (hour(gone)) virtual, there int as (if(gone is null, 1, null)) stored); insert into u (gone) values ('2020-01-01 12:00:00')`,
  );
  passes(
    tested,
    /^content of 1 table compared; not compared: shop\.t \(generated_column\); 3 objects compared$/,
  );
});

test("a server whose data has a file system of its own, with all of its databases", async () => {
  server.sql("create or replace database shop; use shop; create table t (a int); insert into t values (1)");
  const directory = join(server.sql("select @@datadir"), "lost+found");
  mkdirSync(directory, { mode: 0o700 });
  try {
    const made = await backUp(place, { ...server.source, databases: "all" });
    expect(made.sourceMetadata["databases"]).toContain("shop");
    passes(
      await testBackup(place, server.source, made),
      /^content of 1 table compared; \d+ objects compared$/,
    );
  } finally {
    rmdirSync(directory);
  }
});

test("a function that a view needs is lost on the way: the dump is to blame, and not the scratch server", async () => {
  server.sql(`create or replace database shop; use shop; create table t (a int); insert into t values (1);
    create function twice(n int) returns int deterministic return 2 * n; create view v as select twice(a) from t`);
  const made = await back(["shop"]);
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const whole = Buffer.concat(pieces).toString("latin1");
  const without = whole.replace(/^CREATE DEFINER=\S+ FUNCTION [^]*?;;\n/m, "");
  expect(without).not.toBe(whole);
  const instead = await reseal(place, Buffer.from(without, "latin1"));
  expect(await testBackup(place, server.source, made, { instead })).toMatchObject({
    result: "failed",
    reason: expect.stringContaining("it lacks the function shop.twice") as string,
  });
});

test("a table that is encrypted, or has a parser of its own, could not be tested here, and no dump is blamed", async () => {
  server.sql(
    "create or replace database shop; use shop; create table t (a text, fulltext key w (a)); insert into t values ('x')",
  );
  const made = await back(["shop"]);
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const whole = Buffer.concat(pieces).toString("latin1");
  for (const [was, is, told] of [
    ["ENGINE=InnoDB", "ENGINE=InnoDB `ENCRYPTED`=YES `ENCRYPTION_KEY_ID`=3", "it has no keys"],
    ["`w` (`a`)", "`w` (`a`) /*!50100 WITH PARSER `mecab` */ ", "lacks a feature that the dump needs"],
  ] as const) {
    const changed = whole.replace(was, is);
    expect(changed).not.toBe(whole);
    const instead = await reseal(place, Buffer.from(changed, "latin1"));
    await expect(testBackup(place, server.source, made, { instead })).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining(told) as string,
    });
  }
});

test("a server that ignores the case of names, and has larger pages for longer rows", async () => {
  const other = await startSourceMariadb(
    place.dir,
    ["--skip-networking"],
    ["--lower-case-table-names=1", "--innodb-page-size=64k"],
  );
  try {
    const columns = Array.from({ length: 150 }, (_, at) => `c${at} char(100) not null default 'x'`).join(
      ", ",
    );
    other.sql(`create database shop character set latin1; use shop; create table Orders (Id int primary key, ${columns});
      create trigger Counted before insert on Orders for each row set new.Id = new.Id + 0; insert into orders (id) values (1);
      create view Few as select Id from ORDERS`);
    const made = await backUp(place, { ...other.source, databases: ["shop"] });
    passes(await testBackup(place, other.source, made), /^content of 1 table compared; 5 objects compared$/);
  } finally {
    await other.close();
    process.env["TEST_MARIADB_URL"] = server.url("root", "");
  }
});
