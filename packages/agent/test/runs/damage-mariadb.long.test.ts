import { randomBytes } from "node:crypto";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { threeAlike } from "./earlier-tests-in.ts";
import { flipBit, makeTestPlace, reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** What happens to a MariaDB or MySQL database, and what notices it by default: docs/damage.md. */

/** More than is read of one table: a sample has to find it. */
const ROWS = 40_000;

let place: TestPlace;
let server: SourceMariadb;
let table: DamageTable;
let busy: RestoreTestResult;
let backup: MadeBackup;
let passed: RestoreTestResult;

const digits = (name: string): string =>
  `(select 0 n union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9) ${name}`;
const numbers = (rows: number): string =>
  `(select a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 1 as i from ${["a", "b", "c", "d", "e"].map(digits).join(", ")} having i <= ${rows}) numbers`;

const BUSY = `create database busy default character set utf8mb4; use busy;
  create table orders (id int primary key, at datetime, note text, motto text, mail varchar(99) character set latin1, raw longblob, doc json,
    price decimal(9, 2), flags bit(4), kind enum('a', 'b'), spot point, twice int as (id * 2) stored);
  insert into orders (id, at, note, motto, mail, raw, doc, price, flags, kind, spot)
    select i, date_sub('2026-11-01', interval i % 500 day), concat('please leave parcel number ', i, ' with the neighbours, thanks'), concat('chair ', i),
      if(i % 4 = 0, null, concat('customer', i, '@example.com')), concat('picture of chair number ', i), json_object('chairs', i % 7), i % 1000, i % 16, 'a', point(i, 1)
    from ${numbers(ROWS)};
  create function octet_length(x text) returns int deterministic return 0;
  create function concat(x text, y text) returns text deterministic return 'was run';
  create table secret (name text); insert into secret select concat('only ', i) from ${numbers(40)};
  create table \`we ;ird\`\`t\` (\`a \`\`b\` text, gone datetime);
  insert into \`we ;ird\`\`t\` select concat('NULL\\tline\\n\\\\N ', i), null from ${numbers(60)};`;

const isMysql = (): boolean => server.product === "MySQL";
const SMALL = Array.from({ length: 24 }, (_, at) => `small_${at + 1}`);
const filled = (name: string): string =>
  `create table ${name} (id int primary key, note varchar(99)); insert into ${name} select i, concat('note ', i) from ${numbers(100)};`;

/**
 * Made at the same moment each time, which is part of events and of earlier versions of rows.
 * `order`: of the rows of a table that has no key.
 */
const shop = (order: "asc" | "desc" = "asc"): string => `
  set timestamp = 1790000000; drop database if exists shop; create database shop default character set utf8mb4; use shop;
  ${["steady", "halved", "emptied", "dropped", "changed"].map(filled).join("\n")}
  ${SMALL.map((name) => `create table ${name} (id int primary key); insert into ${name} values (1);`).join(" ")}
  create table loose (n int, note text) ; insert into loose select i, concat('n ', i, '),(') from ${numbers(50)} order by i ${order};
  create table exact (id int primary key, f float, d double); insert into exact values (1, 0.1, 0.1234567890123456);
  create table narrowed (id bigint, note text); insert into narrowed values (1, 'a');
  create table coded (t varchar(20) character set latin1); insert into coded values ('a');
  create table sorted (t varchar(20) character set utf8mb4 collate utf8mb4_general_ci); insert into sorted values ('a');
  create table strict (n int not null default 5); insert into strict values (1);
  create table doubled (n int, twice int as (n * 2) stored); insert into doubled (n) values (1);
  create table parts (y int) partition by range (y) (partition p0 values less than (2000), partition p1 values less than maxvalue);
  insert into parts values (1999), (2001);
  create table rulers (id int auto_increment primary key, of_steady int, n int, code int, word text, comment_of int comment 'of orders',
    constraint by_code unique (code), key by_n (n), constraint positive check (n > 0), constraint of_steady foreign key (of_steady) references steady (id)) auto_increment = 5000;
  insert into rulers (id, of_steady, n, code) values (1, 1, 1, 1), (2, 2, 2, 2);
  create function twice(n int) returns int deterministic return 2 * n;
  create procedure sweep() delete from loose where n > 1000;
  create definer = keeper@localhost trigger touched before update on rulers for each row set new.n = abs(new.n);
  create event nightly on schedule every 1 day do delete from loose where n > 1000;
  create view few as select id from rulers; create definer = keeper@localhost view own as select id from rulers;
  ${
    isMysql()
      ? ""
      : `create table history (id int primary key, v int) with system versioning; insert into history values (1, 1);
         set timestamp = 1790000100; update history set v = 2;
         create sequence tickets; do setval(tickets, 500);`
  }`;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  table = new DamageTable(server.product, "MariaDB and MySQL");
  server.sql(
    `${BUSY} create user keeper@localhost identified by 'x'; grant all on *.* to keeper@localhost; ${shop()}`,
  );
  busy = await testIt(await back({ databases: ["busy"] }));
  backup = await back();
  passed = await testIt(backup);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (more: Partial<SourceConfigOf<"mariadb" | "mysql">> = {}): Promise<MadeBackup> =>
  backUp(place, { ...server.source, ...more });

const testIt = (
  made: MadeBackup,
  { instead, seen, ...more }: { instead?: Resealed; seen?: EarlierTests; onSuspicion?: "fail" } = {},
): Promise<RestoreTestResult> =>
  testBackup(place, { ...server.source, ...more }, made, { instead: instead ?? made, seen });

/** Runs `sql` at the source, and tests a new backup of it. */
async function after(sql: string, more: { onSuspicion?: "fail" } = {}): Promise<RestoreTestResult> {
  server.sql(`use busy; ${sql}`);
  return testIt(await back({ databases: ["busy"] }), { seen: threeAlike("shop", busy.profile), ...more });
}

test("a profile has counts and rates of each kind of column, nothing of small tables, and no value", () => {
  expect(busy.reason).toBeUndefined();
  const tables = busy.profile?.tables ?? [];
  expect(tables.map(({ name }) => name)).toEqual(["busy.`we ;ird``t`", "busy.orders"]);
  const columns = new Map(tables[1]?.columns.map(({ name, ...rest }) => [name, rest]));
  expect(tables[1]?.rows).toBe(ROWS);
  expect([...columns.keys()].toSorted()).toEqual(
    ["at", "doc", "flags", "id", "kind", "mail", "motto", "note", "price", "raw", "spot"].toSorted(),
  );
  expect(columns.get("note")).toMatchObject({ nulls: 0, random: 0 });
  expect(columns.get("note")?.distinct).toBeGreaterThan(950);
  expect(columns.get("note")?.length).toBeGreaterThan(45);
  expect(columns.get("mail")?.nulls).toBeGreaterThan(235);
  expect(columns.get("mail")?.nulls).toBeLessThan(265);
  expect(columns.get("raw")).toMatchObject({ random: 0 });
  expect(columns.get("raw")?.length).toBeGreaterThan(25);
  expect(columns.get("doc")?.length).toBeGreaterThan(8);
  expect(columns.get("at")?.newest).toBe("2026-11-01");
  expect(columns.get("price")?.distinct).toBeLessThan(100);
  expect(columns.get("flags")?.distinct).toBeLessThan(2);
  expect(columns.get("spot")).toEqual({ nulls: 0 });
  expect(tables[0]).toMatchObject({
    rows: 60,
    columns: [
      { name: "a `b", nulls: 0, distinct: 1000 },
      { name: "gone", nulls: 1000 },
    ],
  });
  expect(busy.profile).toMatchObject({ left_out: 1, suspicious: [] });
  expect(JSON.stringify(busy.profile)).not.toMatch(/neighbours|customer1|chair|only/);
});

test("an honest tenth more of the same is not suspicious", async () => {
  const grown = await after(
    `insert into orders (id, at, note, motto, mail, raw, doc, price, flags, kind, spot)
      select id + 100000, at, concat(note, '!'), motto, mail, raw, doc, price, flags, kind, spot from orders where id % 10 = 0`,
  );
  expect(grown.result, grown.reason).toBe("passed");
  expect(grown.profile?.suspicious).toEqual([]);
});

test("a hundredth of a column encrypted in place is suspicious, and fails only where the source says so", async () => {
  const values = Array.from({ length: ROWS / 100 }, (_, at) => [
    at * 100 + 1,
    randomBytes(48).toString("base64"),
  ]);
  const sql = `update orders join (${values
    .map(([id, note]) => `select ${id} as id, '${note}' as note`)
    .join(" union all ")}) v on v.id = orders.id set orders.note = v.note;
    update orders set mail = null, motto = 'your chairs are ours: write to us'`;
  const failed = await after(sql, { onSuspicion: "fail" });
  expect(failed.result).toBe("failed");
  expect(failed.reason).toContain("attestore accept shop busy.orders --because REASON");
  expect(failed.profile?.suspicious).toEqual([
    { table: "busy.orders", column: "note", measure: "random", now: expect.any(Number), before: 0 },
    { table: "busy.orders", column: "motto", measure: "distinct", now: 0, before: expect.any(Number) },
    { table: "busy.orders", column: "mail", measure: "nulls", now: 1000, before: expect.any(Number) },
  ]);
  for (const what of [
    "1 % of a text column encrypted at the source",
    "every value of a column set to NULL at the source",
    "every text of a column replaced at the source",
  ])
    table.says(what, "reported as suspicious");
});

test("damage at the source is noticed as the table says", async () => {
  expect(passed.reason).toBeUndefined();
  server.sql(`use shop; rename table dropped to gone; delete from emptied; delete from small_24; delete from halved where id > 50; delete from steady where id > 90;
    drop index by_n on rulers; drop function twice; drop view few; drop event nightly; drop trigger touched;`);
  if (!isMysql()) server.sql("alter table shop.history drop system versioning");
  const made = await back();
  const tested = await testIt(made, { seen: seenForDays(passed) });
  table.noticed("a table dropped or renamed at the source", tested, "shop.dropped");
  table.noticed("a table emptied at the source", tested, "inferred:rows:shop.emptied");
  table.noticed("the only row of the 24th small table deleted at the source", tested, "shop.small_24");
  table.noticed("half of a table's rows deleted at the source", tested, "inferred:rows:shop.halved");
  table.noticed("10 % of a steady table's rows deleted at the source", tested, "inferred:rows:shop.steady");
  if (!isMysql())
    table.noticed("earlier versions of rows dropped at the source", tested, "shop.history (history)");
  expect(made.sourceMetadata["schema_hash"]).not.toBe(backup.sourceMetadata["schema_hash"]);
  table.says("an index, routine, view or event dropped at the source", "reported as drift");
  table.noticed("all triggers dropped at the source", tested, "triggers 0 of");
  table.noticed("all recurring events dropped at the source", tested, "events 0 of");
  server.sql(shop());
});

test("one trigger of several that the source lost fails nothing, and is told", async () => {
  const several = [1, 2, 3, 4].map(
    (n) => `create trigger t${n} before insert on steady for each row set @t = ${n};`,
  );
  server.sql(`use shop; ${several.join(" ")}`);
  const before = await back();
  const usual = await testIt(before);
  server.sql("use shop; drop trigger t2");
  const made = await back();
  const tested = await testIt(made, { seen: seenForDays(usual) });
  expect(tested.result, tested.reason).toBe("passed");
  const triggers = usual.checks.find(({ id }) => id === "inferred:kinds")?.observed["triggers"] as number;
  expect(tested.checks.find(({ id }) => id === "inferred:kinds")?.observed["fewer"]).toBe(
    `triggers ${triggers - 1} of ${triggers}`,
  );
  expect(made.sourceMetadata["schema_hash"]).not.toBe(before.sourceMetadata["schema_hash"]);
  table.says("a trigger of several dropped at the source", "reported as drift");
  server.sql(shop());
});

type Case = readonly [what: string, sql: string, names: string];
/** Each list is one dump: a receipt has no room to name everything at once. */
const ON_THE_WAY: readonly (readonly Case[])[] = [
  [
    ["a table lost on the way", "drop table dropped", "shop.dropped"],
    ["a row lost on the way", "delete from emptied where id = 7", "shop.emptied"],
    ["one value changed on the way", "update changed set note = 'mote 7' where id = 7", "shop.changed"],
    ["a NULL made an empty text on the way", "update rulers set word = ''", "shop.rulers"],
    ["a number rounded on the way", "update exact set d = round(d, 12)", "shop.exact"],
    [
      "the texts of two rows exchanged on the way",
      "update loose set note = case n when 1 then 'n 2),(' else 'n 1),(' end where n < 3",
      "shop.loose",
    ],
  ],
  [
    [
      "a column's type narrowed on the way",
      "alter table narrowed modify id int",
      "table shop.narrowed (other)",
    ],
    [
      "a column's character set changed on the way",
      "alter table coded modify t varchar(20) character set utf8mb4",
      "table shop.coded (other)",
    ],
    [
      "a column's collation changed on the way",
      "alter table sorted modify t varchar(20) character set utf8mb4 collate utf8mb4_bin",
      "table shop.sorted (other)",
    ],
    ["NOT NULL or a default lost on the way", "alter table strict modify n int", "table shop.strict (other)"],
    [
      "a generated column's expression changed on the way",
      "alter table doubled modify twice int as (n + n + 0) stored",
      "table shop.doubled (other)",
    ],
    [
      "a partition lost on the way",
      "alter table parts reorganize partition p0, p1 into (partition p1 values less than maxvalue)",
      "table shop.parts (other)",
    ],
    ["a comment lost on the way", "alter table rulers modify comment_of int", "table shop.rulers (other)"],
  ],
  [
    ["an index lost on the way", "drop index by_n on rulers", "index shop.rulers.by_n (missing)"],
    ["a unique key lost on the way", "drop index by_code on rulers", "index shop.rulers.by_code (missing)"],
    [
      "a foreign key lost on the way",
      "alter table rulers drop foreign key of_steady",
      "constraint shop.rulers.of_steady (missing)",
    ],
    [
      "a check constraint lost on the way",
      "alter table rulers drop constraint positive",
      "constraint shop.rulers.positive (missing)",
    ],
    [
      "the next value of AUTO_INCREMENT reset on the way",
      "alter table rulers auto_increment = 3",
      "auto increment shop.rulers (other)",
    ],
  ],
  [
    ["a function or procedure lost on the way", "drop procedure sweep", "procedure shop.sweep (missing)"],
    ["a trigger lost on the way", "drop trigger touched", "trigger shop.touched (missing)"],
    ["an event lost on the way", "drop event nightly", "event shop.nightly (missing)"],
    ["a view lost on the way", "drop view few", "view shop.few (missing)"],
    [
      "another definer on the way",
      "create or replace definer = root@localhost view own as select id from rulers",
      "view shop.own (other)",
    ],
    [
      "something added on the way",
      "create view more as select 1 as one",
      "view shop.more (not at the source)",
    ],
  ],
];

test.each(ON_THE_WAY.map((each) => [each]))("on the way: %#", async (damages) => {
  server.sql(`use shop; ${damages.map((each) => each[1]).join(";\n")}`);
  const tested = await testIt(backup, { instead: insteadOf(await back()) });
  server.sql(shop());
  for (const [what, , names] of damages) table.noticed(what, tested, names);
});

test("objects that only MariaDB has, lost on the way", async () => {
  if (isMysql()) return;
  server.sql("use shop; alter table history drop system versioning; alter sequence tickets restart 7");
  const tested = await testIt(backup, { instead: insteadOf(await back()) });
  server.sql(shop());
  table.noticed("earlier versions of rows lost on the way", tested, "shop.history");
  table.noticed(
    "the next value of a sequence reset on the way",
    tested,
    "sequence value shop.tickets (other)",
  );
});

test("the reference system of a column is in no dump, and is named", async () => {
  if (isMysql()) return;
  server.sql(`create database maps; use maps; create table spots (spot point ref_system_id = 4326, other point);
    insert into spots values (st_geomfromtext('POINT(1 2)', 4326), null)`);
  const tested = await testIt(await back({ databases: ["maps"] }));
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toMatch(/, not compared: reference system maps\.spots\.spot$/);
  table.says(
    "the reference system of a column (`REF_SYSTEM_ID`), which no dump has",
    "named as not compared",
  );
});

test("what a dump sets, lost on the way, and all that it has", async () => {
  server.sql(`create database heads default character set utf8mb4; use heads;
    create table zoned (id int primary key, at timestamp null); insert into zoned values (1, from_unixtime(1790000000));
    create table spoken (id int primary key, word text); insert into spoken values (1, 'ü€😀');
    create table keyed (n int, key by_n (n)) engine = MyISAM; insert into keyed values (1)`);
  const made = await back({ databases: ["heads"] });
  server.sql("drop database heads");
  const whole = (await plaintext(made)).toString("latin1");
  for (const [what, lost, names] of [
    ["the time zone of a dump's times lost on the way", /^.*SET TIME_ZONE='\+00:00'.*\n/m, "heads.zoned"],
    ["the character set of a dump's texts lost on the way", /^.*SET NAMES utf8mb4.*\n/m, "heads.spoken"],
    [
      "an index left switched off on the way",
      /^.*ALTER TABLE `keyed` ENABLE KEYS.*\n/m,
      "index heads.keyed.by_n (other)",
    ],
  ] as const) {
    const without = whole.replace(lost, "");
    expect(without, what).not.toBe(whole);
    const instead = await reseal(place, Buffer.from(without, "latin1"));
    table.noticed(what, await testIt(made, { instead }), names);
  }
  const last = await reseal(place, Buffer.from(whole.slice(whole.lastIndexOf("-- Dump completed"))));
  expect(await testIt(made, { instead: last })).toMatchObject({ result: "failed", checks: [] });
  table.says("an empty dump in its place", "refused");
});

test("another database's dump, bytes that are lost or other, FLOATs, and another order of rows", async () => {
  server.sql(
    `drop database shop; create database shop; use shop; ${filled("steady")} create table guests (id int);`,
  );
  const other = await back();
  table.noticed(
    "another database's dump in its place",
    await testIt(backup, { instead: insteadOf(other) }),
    "",
  );
  const staging = await back({ connection: { kind: "url", url: server.url("root", "", "busy") } });
  expect(staging.origin.identity).not.toEqual(backup.origin.identity);
  table.says("the connection leads to another database", "reported as another identity");
  expect(await testIt(backup, { instead: insteadOf(staging) })).toMatchObject({
    result: "failed",
    checks: [],
  });
  table.says("the dump of a database with another name in its place", "refused");
  expect(await testIt(backup, { instead: await flipBit(place, backup) })).toMatchObject({
    result: "failed",
    checks: [],
  });
  table.says("a bit flipped in what is stored", "refused");
  const whole = await plaintext(backup);
  const cut = await testIt(backup, { instead: await reseal(place, whole.subarray(0, whole.length * 0.8)) });
  expect(cut).toMatchObject({ result: "failed", checks: [] });
  table.says("the end of the dump cut off", "refused");
  const lost = whole.toString("latin1").replace("USE `shop`;", "USE `shoq`;");
  const nowhere = await reseal(place, Buffer.from(lost, "latin1"));
  expect(await testIt(backup, { instead: nowhere })).toMatchObject({ result: "failed", checks: [] });
  table.says("the name of the database changed where the dump changes to it", "refused");
  const flipped = Buffer.from(whole);
  flipped[flipped.indexOf("'note 77'") + 6]! ^= 1;
  const bit = await testIt(backup, { instead: await reseal(place, flipped) });
  table.noticed("a bit flipped in the dump before it was encrypted", bit, "shop.changed");
  server.sql(shop("desc"));
  const turned = await testIt(backup, { instead: insteadOf(await back()) });
  expect(turned.reason).toBeUndefined();
  table.says("the rows in another order", "passes");
  server.sql("set global sql_select_limit = 40");
  await expect(back()).rejects.toMatchObject({ code: "dump_failed" });
  server.sql("set global sql_select_limit = default");
  server.sql(
    "set global init_connect = 'set sql_select_limit = 40'; create user limited@localhost identified by 'x'; grant select, trigger, event, show view on shop.* to limited@localhost",
  );
  const connection = { kind: "url", url: server.url("limited", "x") } as const;
  await expect(back({ connection })).rejects.toMatchObject({ code: "dump_failed" });
  server.sql("set global init_connect = ''");
  table.says("a server that returns only so many rows of a table", "no backup is made");
  server.sql("update shop.exact set f = 16777217");
  await expect(back()).rejects.toMatchObject({ code: "dump_failed" });
  table.says("a FLOAT that the dump program would round", "no backup is made");
  server.sql(
    "alter table shop.exact modify f double; create table shop.texts (t text character set gbk); insert into shop.texts values (x'a140')",
  );
  await expect(back()).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringContaining("shop.texts.t") as string,
  });
  table.says("a text with a character that the dump cannot hold", "no backup is made");
});

test("what the server hides from the backup's user is in no dump, and is named", async () => {
  server.sql(`create database hidden; use hidden; create table seen (id int); insert into seen values (1);
    create table unseen (id int); create trigger doubled before insert on seen for each row set new.id = 2 * new.id;
    create procedure sweep() delete from seen; create role keepers`);
  const withRights = (grants: readonly string[], databases: readonly string[] | "all" = ["hidden"]) => {
    server.sql(`drop user if exists backups@localhost; create user backups@localhost identified by 'x';
      ${grants.map((each) => (/^(?:grant|set) /.test(each) ? each : `grant ${each} to backups@localhost`)).join("; ")}`);
    const connection = { kind: "url", url: server.url("backups", "x", "hidden") } as const;
    return back({ connection, databases });
  };
  const hiddenIn = ({ sourceMetadata }: MadeBackup): string[] => {
    const { objects } = sourceMetadata["content"] as { objects: { left_out?: [string, null][] } };
    return (objects.left_out ?? []).map(([kind]) => kind).filter((kind) => /^unseen_(?!prepared)/.test(kind));
  };
  const few = "select, show view, event on hidden.*";
  const made = await withRights([few]);
  const both = ["unseen_trigger", "unseen_routine"];
  expect(hiddenIn(made)).toEqual(both);
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  const routines = `grant ${isMysql() ? "SHOW_ROUTINE" : "SELECT on mysql.proc"}`;
  expect(comparedContentText(tested.checks)).toContain(
    `, not compared: triggers hidden from the backup's user (grant TRIGGER), routines hidden from the backup's user (${routines})`,
  );
  expect(hiddenIn(await withRights([few, "trigger on hidden.seen"]))).toEqual(both);
  // The grant on the more specific name is the only one that counts.
  const onPatterns = ["select, show view, event on `hid%`.*", "trigger on `%`.*"];
  expect(hiddenIn(await withRights(onPatterns))).toEqual(both);
  const onTable = ["event on hidden.*", "select on hidden.seen"];
  expect(hiddenIn(await withRights(onTable))).toEqual(["unseen_table", ...both]);
  expect(hiddenIn(await withRights([few], "all"))).toEqual(["unseen_database", ...both]);
  expect(comparedContentText(tested.checks)).toContain(", grants to accounts (in no dump");
  table.says(
    "grants on the databases, and accounts of a whole server, which no dump has",
    "named as not compared",
  );
  const whole = [few, "trigger on hidden.*", isMysql() ? "show_routine on *.*" : "select on mysql.proc"];
  expect(hiddenIn(await withRights(whole))).toEqual([]);
  const byRole = whole.map((each) => `grant ${each} to keepers`);
  const isDefault = `set default role keepers ${isMysql() ? "to" : "for"} backups@localhost`;
  const ofRole = [...byRole, "grant keepers to backups@localhost", isDefault];
  expect(hiddenIn(await withRights(ofRole))).toEqual([]);
  table.says(
    "tables, triggers or routines that the server hides from the backup's user",
    "named as not compared",
  );
});

/** A backup of what was damaged, as it would lie in the place of an honest one. */
function insteadOf({ path, sha256, sourceMetadata }: MadeBackup): Resealed {
  return { path, sha256, plaintextBytes: Number(sourceMetadata["plaintext_size_bytes"]) };
}

async function plaintext({ path }: MadeBackup): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

test("every case of the table is here", () => table.everyCaseIsHeld());
