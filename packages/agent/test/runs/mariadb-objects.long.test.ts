import { readdirSync } from "node:fs";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { writeConnectionFile } from "../../src/engines/mariadb/connection/connection.ts";
import { listSource } from "../../src/engines/mariadb/content/list-source.ts";
import { signObjects } from "../../src/engines/mariadb/content/sign-objects.ts";
import { mariadb } from "../../src/engines/mariadb/index.ts";
import { findClient } from "../../src/engines/mariadb/connection/programs.ts";
import type { MariadbSession } from "../../src/engines/mariadb/connection/session.ts";
import { openSession } from "../../src/engines/mariadb/connection/source-session.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** What MariaDB has besides rows comes back as it was: `inferred:objects`. */

const never = new AbortController().signal;
let place: TestPlace;
let server: SourceMariadb;
let backup: MadeBackup;

const SOURCE = String.raw`delimiter //
  create database shop default character set utf8mb4 comment 'a shop'// create database \`od-d \`\`name\`// use shop//
  set global event_scheduler = off// create role keeper// create user gone@'10.0.0.%'//
  create table customers (id int auto_increment primary key, name varchar(90) not null default ') ENGINE=InnoDB AUTO_INCREMENT=9\n  KEY \`x\` (\`y\`),' comment 'a, b',
    key named (name(5) desc) comment 'by name', check (length(name) > 0)) comment 'who ''buys'''//
  create table orders (id bigint unsigned auto_increment primary key, customer int, total decimal(9, 2) default (1 + 1), note text, at timestamp default current_timestamp on update current_timestamp,
    hidden int invisible default 3, twice decimal(10, 2) as (total * 2) stored, unique (customer, total), fulltext (note), key unused (total) ignored,
    constraint positive check (total >= 0), constraint of_customer foreign key (customer) references customers (id) on delete cascade) row_format = dynamic//
  insert into customers (name) values ('a'), ('b')// insert into customers (id, name) values (500, 'c')// delete from customers where id = 500//
  insert into orders (customer, total, note) values (1, 5, 'x')// update orders set id = 900//
  create table versions (id int primary key auto_increment, v text without system versioning) with system versioning partition by system_time limit 1000 (partition p0 history, partition now current)//
  insert into versions values (40, 'a')// delete from versions//
  create table parts (y int, v text) engine = Aria partition by range (y) (partition p0 values less than (2000) comment 'old', partition p1 values less than maxvalue)//
  create table my (a int, n int auto_increment, primary key (a, n)) engine = MyISAM comment = 'no transactions'// insert into my (a) values (1), (1), (2)//
  create table \`a\n) ENGINE=x AUTO_INCREMENT=7,\` (\`  KEY \`\`z\`\`,\n  KEY\` int)//
  set foreign_key_checks = 0// create table lost (c int, constraint orphans foreign key (c) references customers (id))// insert into lost values (1), (77), (78), (null)//
  create table far (c int, constraint nowhere foreign key (c) references nothing (id))// insert into far values (1)// set foreign_key_checks = default//
  create sequence numbers start with 5 increment by 3 maxvalue 100000 cycle cache 10// do nextval(numbers)// do nextval(numbers)//
  create sequence fresh// create sequence down increment by -1 nocache// do nextval(down)//
  create definer = gone@'10.0.0.%' sql security invoker view cheap as select id, note from orders where total < 5 or note like '%é☃%' with cascaded check option//
  create algorithm = temptable view by_customer as select c.name, count(*) n from customers c join orders o on o.customer = c.id group by c.name//
  create definer = keeper view of_keeper as select 1 as one//
  set sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT'// create procedure loud(in a int, inout b varchar(9)) comment 'says it' sql security invoker begin select "a" || 'b'; end// set sql_mode = default//
  create definer = gone@'10.0.0.%' function half(x decimal(9, 2)) returns decimal(9, 2) deterministic return x / 2// create aggregate function nothing(x int) returns int begin declare exit handler for not found return 0; loop fetch group next row; end loop; end//
  create function newest() returns datetime reads sql data return (select max(at) from orders)//
  create trigger second before insert on orders for each row set new.note = concat(new.note, '☃')// create trigger first before insert on orders for each row precedes second set new.total = new.total + 0//
  create definer = keeper trigger after_it after delete on customers for each row insert into parts values (1, old.name)//
  set time_zone = '+03:00'// create event nightly on schedule every 1 day starts '2026-01-01 02:00:00' disable comment 'cleans' do delete from parts// set time_zone = default//
  create event once on schedule at '2037-01-01 00:00:00' on completion preserve do delete from parts//
  create event past on schedule every 1 day starts '2001-01-01' ends '2002-01-01' on completion preserve disable do delete from parts//
  set sql_mode = 'ORACLE'// create package pack as function one return int; end// create package body pack as function one return int as begin return 1; end; end// set sql_mode = default//
  use \`od-d \`\`name\`// create table \`we;ird\`\`t\` (\`a b\` int, key \`k;\` (\`a b\`))// insert into \`we;ird\`\`t\` values (1)// create view \`v\`\`w\` as select * from shop.orders//
`.replaceAll("\\`", "`");

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(SOURCE);
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (source: Partial<typeof server.source> = {}): Promise<MadeBackup> =>
  backUp(place, { ...server.source, databases: ["shop", "od-d `name"], ...source });

async function testIt(
  instead: Resealed = backup,
  checks: typeof server.source.checks = [],
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, { ...server.source, checks }, backup, { instead });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

async function dumpOf(made: MadeBackup): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}

/** The same backup with other texts in its dump. */
async function testWith(
  ...changes: readonly (readonly [was: string | RegExp, is: string, ...unknown[]])[]
): Promise<RestoreTestResult> {
  let dump = await dumpOf(backup);
  for (const [was, is] of changes) {
    const changed = dump.replace(was, is);
    expect(changed, String(was)).not.toBe(dump);
    dump = changed;
  }
  return testIt(await reseal(place, Buffer.from(dump)));
}

const checkOf = ({ checks }: RestoreTestResult, wanted: string) => checks.find(({ id }) => id === wanted);
const objectsOf = (tested: RestoreTestResult) => checkOf(tested, "inferred:objects");
const failedOf = ({ checks }: RestoreTestResult) =>
  checks.filter(({ result }) => result === "failed").map(({ id }) => id);

test("an unchanged copy passes, whatever its objects are and no matter who defined them", async () => {
  const tested = await testIt();
  expect(tested.reason).toBeUndefined();
  const observed = objectsOf(tested)?.observed;
  expect(observed?.["differing_objects"]).toBeUndefined();
  expect(failedOf(tested)).toEqual([]);
  expect(observed).toMatchObject({ differing: 0 });
  expect(observed?.["found"]).toBe(observed?.["objects"]);
  expect(checkOf(tested, "inferred:foreign_keys")).toMatchObject({
    result: "passed",
    observed: {
      foreign_keys: 2,
      broken: 0,
      not_met: 1,
      not_met_names: "shop.lost.orphans (2)",
      not_checked: 1,
      not_checked_names: "shop.far.nowhere",
    },
  });
  const { kinds } = (backup.sourceMetadata["content"] as { objects: { kinds: object } }).objects;
  expect(kinds).toMatchObject({
    database: { count: 2 },
    auto_increment: { count: 4 },
    constraint: { count: 5 },
    sequence: { count: 3 },
    sequence_value: { count: 3 },
    view: { count: 4 },
    procedure: { count: 1 },
    function: { count: 3 },
    package: { count: 1 },
    package_body: { count: 1 },
    trigger: { count: 3 },
    event: { count: 3 },
  });
  expect(comparedContentText(tested.checks)).toMatch(
    /\d objects compared, not compared: status of event shop\.once, status of event shop\.past$/,
  );
});

test("each check is tried on ruined data, whatever its tables are, and the copy stays as it is", async () => {
  const text = (id: string, query: string, expect: string) => ({ id, query, expect });
  const all = [
    text("any", "select count(*) >= 0 as ok from orders", "ok = 1"),
    text("fresh", "select max(at) > now() - interval 7 day as fresh from orders", "fresh = 1"),
    text("hidden", "select max(hidden) as h from orders", "h = 3"),
    text("view", "select sum(n) as n from by_customer", "n = 1"),
    text("function", "select newest() > now() - interval 7 day as fresh", "fresh = 1"),
    text("star", "select * from orders", "id = 900"),
    text("myisam", "select count(*) as n from my", "n = 3"),
    text("nothing", "select count(*) as n from parts", "n = 0"),
    text("odd", "select count(`a b`) as n from `od-d ``name`.`we;ird``t`", "n = 1"),
    text("again", "select count(*) as n, count(note) as notes from orders", "n = 1"),
  ];
  // All of them have a minute together. What a busy machine does not try in it, it tries in
  // another.
  const tried: (readonly [id: string, noticed: string[], not_noticed: string[], not_tried: string[]])[] = [];
  while (tried.length < all.length) {
    const { checks } = await testIt(backup, all.slice(tried.length));
    const now = checks.flatMap(({ id, negative_control: control }) =>
      control === undefined ? [] : [[id, control.noticed, control.not_noticed, control.not_tried] as const],
    );
    const late = now.findIndex(([, , , texts]) => texts.some((text) => text.endsWith("no time was left")));
    const inTime = late === -1 ? now : now.slice(0, late);
    expect(inTime).not.toEqual([]);
    tried.push(...inTime);
  }
  const empty = "an empty shop.orders";
  const ofTime = ["shop.orders.at null in every row", "shop.orders.at a year older"];
  expect(tried).toEqual([
    ["any", [], [empty], []],
    ["fresh", [empty, ...ofTime], [], []],
    ["hidden", [empty, "shop.orders.hidden null in every row"], [], []],
    ["view", ["an empty shop.customers", empty, "shop.orders.customer null in every row"], [], []],
    ["function", [empty], [], []],
    [
      "star",
      [empty],
      [
        "shop.orders.customer null in every row",
        "shop.orders.total null in every row",
        "shop.orders.note null in every row",
        ...ofTime,
        "shop.orders.hidden null in every row",
      ],
      [],
    ],
    ["myisam", ["an empty shop.my"], [], []],
    ["nothing", [], [], ["an empty shop.parts: there is nothing in it"]],
    [
      "odd",
      ["an empty `od-d ``name`.`we;ird``t`", "`od-d ``name`.`we;ird``t`.a b null in every row"],
      [],
      [],
    ],
    ["again", [empty], ["shop.orders.note null in every row"], []],
  ]);
});

test("anything lost, changed or added on the way fails the test, and is named", async () => {
  type Case = readonly [was: string | RegExp, is: string, names: string];
  const keys: readonly Case[] = [
    [/\n {2}KEY `named` [^\n]*,/, "", "index shop.customers.named (missing)"],
    [" IGNORED", "", "index shop.orders.unused (other)"],
    [/,\n {2}CONSTRAINT `positive`[^\n]*/, "", "constraint shop.orders.positive (missing)"],
    ["ON DELETE CASCADE", "", "constraint shop.orders.of_customer (other)"],
    [/,\n {2}KEY `k;` [^\n]*/, "", "index `od-d ``name`.`we;ird``t`.k; (missing)"],
  ];
  const tables: readonly Case[] = [
    ["COMMENT 'a, b'", "COMMENT 'a'", "table shop.customers (other)"],
    ["COMMENT='no transactions'", "", "table shop.my (other)"],
    ["AUTO_INCREMENT=501", "", "auto increment shop.customers (other)"],
    [
      "-- Dump completed",
      "create table shop.more (a int);\n-- Dump completed",
      "table shop.more (not at the source)",
    ],
  ];
  const others: readonly Case[] = [
    [/SETVAL\(`numbers`, \d+/i, "SETVAL(`numbers`, 8", "sequence value shop.numbers (other)"],
    ["cache 10 cycle", "cache 11 cycle", "sequence shop.numbers (other)"],
    [/DEFINER=`gone`@`10.0.0.%` SQL SECURITY INVOKER/, "SQL SECURITY DEFINER", "view shop.cheap (other)"],
    [`"a" || 'b'`, `"a" || 'c'`, "procedure shop.loud (other)"],
    [/DEFINER=`gone`@`10.0.0.%` FUNCTION/, "FUNCTION", "function shop.half (other)"],
    ["'☃')", "'-')", "trigger shop.second (other)"],
    [/ DISABLE COMMENT 'cleans'/, " ENABLE COMMENT 'cleans'", "event shop.nightly (other)"],
  ];
  for (const cases of [keys, tables, others]) {
    const tested = await testWith(...cases);
    expect(tested.reason).toBeDefined();
    expect(failedOf(tested)).toContain("inferred:objects");
    const observed = objectsOf(tested)?.observed;
    for (const [, , names] of cases) expect(observed?.["differing_objects"]).toContain(names);
    expect(observed?.["differing"]).toBe(cases.length);
  }
});

test("objects that changed during the dump are named and not compared; all others are compared", async () => {
  const source = { ...server.source, databases: ["shop", "od-d `name"] };
  const key = Buffer.alloc(32, 7);
  const dump = await mariadb.dump(source, { scratchDir: place.scratch, signal: never, contentKey: key });
  try {
    let isFirst = true;
    for await (const _ of dump.content) {
      if (isFirst)
        server.sql("use shop; do setval(numbers, 5000); insert into customers (name) values ('d')");
      isFirst = false;
    }
    const { content } = (await dump.metadata()) as unknown as {
      content: { objects: { left_out: unknown[] } };
    };
    expect(content.objects.left_out).toEqual(
      expect.arrayContaining([
        ["auto_increment", "shop.customers"],
        ["sequence_value", "shop.numbers"],
      ]),
    );
  } finally {
    await dump.close();
  }
});

test("a locked table, whose next value nobody can read, costs only the comparison of these values", async () => {
  const client = await findClient();
  const connection = await writeConnectionFile(server.source.connection, place.scratch);
  const open = (): Promise<MariadbSession> => openSession(client, connection, never);
  const databases = ["shop", "od-d `name"];
  const holder = await open();
  try {
    const made = await back();
    expect(await holder.run("lock tables shop.customers write")).toMatchObject({ ok: true });
    const partly = await listSource(open, databases);
    await holder.run("unlock tables");
    expect(partly?.unlisted).toEqual(["auto_increment"]);
    const key = (await openContentKey(made.sourceMetadata, [place.identity]))!;
    const { content } = made.sourceMetadata as unknown as {
      content: { objects: { kinds: Record<string, unknown> } };
    };
    const objects = signObjects(await listSource(open, databases), partly, key);
    const { auto_increment: _unlisted, ...kinds } = content.objects.kinds;
    expect(objects?.kinds).toEqual(kinds);
    const tested = await testBackup(place, server.source, made, {
      metadata: { content: { ...content, objects } },
    });
    expect(tested.reason).toBeUndefined();
    expect(comparedContentText(tested.checks)).toMatch(
      /\d objects compared, not compared: all of the kind auto increment, status of event shop\.once, status of event shop\.past$/,
    );
  } finally {
    await holder.close();
    await connection.remove();
  }
});

test("kinds that the source did not list in time are named, and the others are compared", async () => {
  const client = await findClient();
  const connection = await writeConnectionFile(server.source.connection, place.scratch);
  const open = (): Promise<MariadbSession> => openSession(client, connection, never);
  const refusing = async (): Promise<MariadbSession> => {
    const session = await open();
    const runForeign = session.runForeign.bind(session);
    session.runForeign = (sql) => runForeign(sql.replace("show create table `shop`", "show create table"));
    return session;
  };
  const databases = ["shop", "od-d `name"];
  try {
    const made = await back();
    // With no time left, each group still gets its least.
    expect(await listSource(open, databases, { budget_ms: 0, least_ms: 600_000 })).toMatchObject({
      unlisted: [],
    });
    const partly = await listSource(refusing, databases);
    expect(partly?.unlisted).toContain("table");
    const key = (await openContentKey(made.sourceMetadata, [place.identity]))!;
    const { content } = made.sourceMetadata as unknown as { content: { objects: { kinds: object } } };
    const objects = signObjects(partly, await listSource(open, databases), key);
    const { database, procedure, trigger, event } = content.objects.kinds as Record<string, unknown>;
    expect(objects?.kinds).toMatchObject({ database, procedure, trigger, event });
    expect(Object.keys(objects?.kinds ?? {})).not.toContain("table");
    const metadata = { content: { ...content, objects } };
    const tested = await testBackup(place, server.source, made, { metadata });
    expect(tested.reason).toBeUndefined();
    expect(objectsOf(tested)).toMatchObject({
      result: "passed",
      observed: {
        not_looked_at: 8,
        not_looked_at_objects: expect.stringContaining("all of the kind auto increment") as string,
      },
    });
    expect(comparedContentText(tested.checks)).toMatch(
      /\d objects compared, not compared: all of the kind table, all of the kind index, .* and 3 more$/,
    );
    const dump = (await dumpOf(made)).replace("'☃')", "'-')").replace("COMMENT 'a, b'", "COMMENT 'a'");
    const instead = await reseal(place, Buffer.from(dump));
    const failed = await testBackup(place, server.source, made, { metadata, instead });
    expect(objectsOf(failed)?.observed).toMatchObject({ differing_objects: "trigger shop.second (other)" });
  } finally {
    await connection.remove();
  }
  expect(signObjects({ objects: [], unlisted: ["database"] }, null, Buffer.alloc(32))).toBeNull();
});
