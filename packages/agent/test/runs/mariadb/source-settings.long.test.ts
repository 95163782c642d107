import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";

/**
 * A server's settings, and the statements that it runs for each new session (`init_connect`, for
 * all but administrators), change neither what is backed up nor what is said of it.
 */

let place: TestPlace;
let server: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(`create user backup@localhost identified by 'x';
    grant select, show view, trigger, event, show databases on *.* to backup@localhost;
    create database shop default character set utf8mb4; use shop;
    create table orders (id int primary key, note varchar(90) comment '☃'); insert into orders values (1, '☃'), ${Array.from({ length: 30 }, (_, at) => `(${at + 2}, 'b')`).join()};
    create view first_order as select '☃' as snowman, id from orders where id = 1;
    create procedure greet() comment '☃' select '☃';`);
  if (server.product === "MariaDB")
    server.sql(
      "use shop; create table past (n int) with system versioning; insert into past values (1); update past set n = 2",
    );
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

async function backedUpAndTested(init: string): Promise<RestoreTestResult> {
  process.env["TEST_MARIADB_URL"] = server.url("backup", "x");
  server.sql(`set global init_connect = "${init}"`);
  try {
    return await testBackup(place, server.source, await backUp(place, server.source));
  } finally {
    server.sql("set global init_connect = ''");
  }
}

function passes(tested: RestoreTestResult): void {
  expect(tested.reason).toBeUndefined();
  const what =
    server.product === "MariaDB" ? "content of 2 tables compared; 6" : "content of 1 table compared; 5";
  expect(comparedContentText(tested.checks)).toContain(`${what} objects compared`);
}

test("a limit of rows that each session gets is no backup, because the dump would lack rows", async () => {
  await expect(backedUpAndTested("set sql_select_limit = 20")).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringContaining("sql_select_limit is 20") as string,
  });
});

test("another character set of each session fails no test", async () => {
  passes(await backedUpAndTested("set names latin1"));
});

test("names without quotes, and a limit of rows for joins, fail nothing", async () => {
  server.sql("set global sql_quote_show_create = 0");
  try {
    // Under such a limit, MySQL's own mysqldump ends with an error.
    const limit = server.product === "MySQL" ? "" : "set sql_big_selects = 0, max_join_size = 20";
    passes(await backedUpAndTested(limit));
  } finally {
    server.sql("set global sql_quote_show_create = 1");
  }
});

test("sessions that see the rows of an earlier time fail no test", async () => {
  // MySQL keeps no earlier versions of rows.
  if (server.product === "MySQL") return;
  passes(await backedUpAndTested("set system_versioning_asof = '2020-01-01 00:00:00'"));
});
