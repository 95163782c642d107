import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { CheckConfig } from "../../../src/config/source-config.ts";
import { writeConnectionFile } from "../../../src/engines/mariadb/connection/connection.ts";
import { roundedFloats } from "../../../src/engines/mariadb/lossy-columns/float-columns.ts";
import { findClient } from "../../../src/engines/mariadb/connection/programs.ts";
import { serverVersion } from "../../../src/engines/mariadb/connection/server-version.ts";
import { MariadbSession } from "../../../src/engines/mariadb/connection/session.ts";
import { lossyTexts } from "../../../src/engines/mariadb/lossy-columns/text-columns.ts";
import { startChild } from "../../../src/processes/child.ts";
import { keptAll, seenTables } from "../earlier-tests-in.ts";
import { back, never, place, server, testIt, useShopOnMariadb } from "./shop-on-mariadb.ts";

useShopOnMariadb();

test("a FLOAT that the dump program would round is no backup", async () => {
  server.sql(
    "create database exact; use exact; create table f (id int primary key, a float, b float(10, 6), d double); insert into f values (1, 0.1, 1.1234567, 0.1), (2, 1.5e10, 2, 1e300), (3, null, null, null)",
  );
  try {
    const made = await back({ databases: ["exact"] });
    const sum = {
      id: "sum",
      query: "select count(*) as n from f where a = cast(0.1 as float) and b > 1.123 and d = 0.1e0",
      expect: "n = 1",
    };
    expect(await testIt([sum], { made, metadata: made.sourceMetadata })).toMatchObject({ result: "passed" });
    server.sql("insert into exact.f values (4, 16777217, 0, 0)");
    const before = readdirSync(place.blobs);
    await expect(back({ databases: ["exact"] })).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringMatching(/rounds FLOAT to six digits, and exact\.f\.a has values with more/),
    });
    expect(readdirSync(place.blobs)).toEqual(before);
    server.sql("alter table exact.f modify a double");
    const doubled = await back({ databases: ["exact"] });
    const all: CheckConfig = {
      id: "all",
      query: "select max(a = 16777216) as n from f",
      expect: "n = 1",
    };
    expect((await testIt([all], { made: doubled, metadata: doubled.sourceMetadata })).result).toBe("passed");
  } finally {
    server.sql("drop database exact");
  }
});

test("a text with a character that the dump cannot hold is no backup", async () => {
  server.sql(`create database texts; use texts;
    create table t (id int primary key, a varchar(9) character set cp1251, b text character set gbk, c char(9) character set latin1);
    insert into t values (1, x'c0e1', '中文', x'81e4'), (2, '?', null, '')`);
  try {
    const made = await back({ databases: ["texts"] });
    expect(made.sourceMetadata["content"]).toMatchObject({ not_compared: { count: 0 } });
    expect(await testIt([], { made, metadata: made.sourceMetadata })).toMatchObject({ result: "passed" });
    for (const [column, value] of [
      ["a", "x'c098'"],
      ["b", "x'a140'"],
    ]) {
      server.sql(`insert into texts.t (id, ${column}) values (4, ${value})`);
      const before = readdirSync(place.blobs);
      await expect(back({ databases: ["texts"] })).rejects.toMatchObject({
        code: "dump_failed",
        message: expect.stringContaining(`texts.t.${column} has a character that utf8mb4 lacks`) as string,
      });
      expect(readdirSync(place.blobs)).toEqual(before);
      server.sql("delete from texts.t where id = 4");
    }
  } finally {
    server.sql("drop database texts");
  }
});

/** Sessions beside the agent's own. */
async function openSessions(count: number) {
  const connection = await writeConnectionFile(server.source.connection, place.scratch);
  const client = await findClient();
  const open = () =>
    MariadbSession.open(
      ({ args }) =>
        startChild({
          command: client,
          args: [`--defaults-file=${connection.path}`, ...args],
          env: connection.env,
          signal: never,
        }),
      never,
    );
  const sessions = await Promise.all(Array.from({ length: count }, open));
  const close = async (): Promise<void> => {
    for (const session of sessions) await session.close();
    await connection.remove();
  };
  return { sessions, close };
}

test("a value that a dump would round is found in a table that is too large to be read in time", async () => {
  server.sql(`create database large; create table large.t (x float, y float); insert into large.t values (1, 16777217);
    insert into large.t select 1, 1 from information_schema.columns a, information_schema.columns b limit 3000000`);
  const { sessions, close } = await openSessions(1);
  try {
    const [looking] = sessions;
    const version = await serverVersion(looking!);
    const floats = await roundedFloats(looking!, ["large"], version, 0.4);
    expect(floats).toEqual({ changed: ["large.t.y"], notExamined: ["large.t.x"] });
  } finally {
    await close();
    server.sql("drop database large");
  }
});

test("a column that cannot be read in time does not hold up a backup, and is not examined", async () => {
  server.sql(`create database locked; use locked; create table a (x float, y text character set cp1251); insert into a values (1, 'a');
    create table b (x float, y text character set cp1251); insert into b values (1, x'98')`);
  const { sessions, close } = await openSessions(2);
  const [locking, looking] = sessions as [MariadbSession, MariadbSession];
  try {
    expect(await locking.run("lock tables locked.a write")).toMatchObject({ ok: true });
    const version = await serverVersion(looking);
    const floats = await roundedFloats(looking, ["locked"], version, 12);
    expect(floats).toEqual({ changed: [], notExamined: ["locked.a.x"] });
    const texts = await lossyTexts(looking, ["locked"], version, 12);
    expect(texts).toEqual({ changed: ["locked.b.y"], notExamined: ["locked.a.y"] });
  } finally {
    await close();
    server.sql("drop database locked");
  }
});

test("a table whose default takes the value of a sequence does not come back from its dump, and the test says what to do", async () => {
  // MySQL has no sequences.
  if (server.product === "MySQL") return;
  server.sql(
    "create database numbered; use numbered; create sequence s; create table t (id int default nextval(s)); insert into t values (5)",
  );
  try {
    const made = await back({ databases: ["numbered"] });
    const tested = await testIt([], { made, metadata: made.sourceMetadata });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toContain("locks only the table");
  } finally {
    server.sql("drop database numbered");
  }
});

test("an earlier version of a row with a FLOAT or text that a dump would change is no backup either", async () => {
  // MySQL has no such tables.
  if (server.product === "MySQL") return;
  for (const [type, value, why] of [
    ["float", "16777217", "rounds FLOAT to six digits"],
    ["varchar(9) character set cp1251", "x'98'", "has a character that utf8mb4 lacks"],
  ]) {
    server.sql(`create database past; use past; create table v (id int primary key, x ${type}) with system versioning;
      insert into v values (1, ${value}); update v set x = 0`);
    try {
      await expect(back({ databases: ["past"] })).rejects.toMatchObject({
        code: "dump_failed",
        message: expect.stringContaining(why ?? "") as string,
      });
    } finally {
      server.sql("drop database past");
    }
  }
});

test("the earlier versions of rows are backed up, counted and come back", async () => {
  // MySQL has no such tables.
  if (server.product === "MySQL") return;
  server.sql(
    "create database past; use past; create table v (id int primary key, x int) with system versioning; insert into v values (1, 1), (2, 2); update v set x = x + 1; delete from v where id = 2",
  );
  try {
    const made = await back({ databases: ["past"] });
    expect(made.sourceMetadata).toMatchObject({
      table_count: 1,
      tables: [
        { name: "past.v", rows: 1 },
        { name: "past.v (history)", rows: 4 },
      ],
    });
    const versions: CheckConfig = {
      id: "versions",
      query: "select count(*) as n, count(distinct x) as m from v for system_time all",
      expect: "n = 4 and m = 3",
    };
    const tested = await testIt([versions], {
      made,
      metadata: made.sourceMetadata,
      seen: seenTables(made),
    });
    expect(tested.reason).toBeUndefined();
    expect(tested.checks).toContainEqual(keptAll(2));
    // A copy that lost them is found, though every row of today is there.
    const tables = [
      { name: "past.v", rows: 1 },
      { name: "past.v (history)", rows: 5 },
    ];
    const lost = await testIt([], { made, metadata: { ...made.sourceMetadata, tables } });
    expect(lost.reason).toContain("inferred:rows:past.v (history)");
  } finally {
    server.sql("drop database past");
  }
});

test("a date that is in no calendar does not come back, and the failed test says that no restore keeps it", async () => {
  server.sql(`create database dates; use dates; set sql_mode = 'ALLOW_INVALID_DATES';
    create table t (at date); insert into t values ('2026-02-31')`);
  try {
    const made = await back({ databases: ["dates"] });
    const tested = await testIt([], { made, metadata: made.sourceMetadata });
    expect(tested.result).toBe("failed");
    expect(tested.reason).toContain("the content of dates.t differs from the dump");
    expect(tested.reason).toContain("No restore keeps dates that are in no calendar");
  } finally {
    server.sql("drop database dates");
  }
});
