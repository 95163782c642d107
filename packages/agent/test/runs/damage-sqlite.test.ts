import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { flipBit, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";

/** What happens to an SQLite database, and what notices it by default: docs/damage.md. */

const table = new DamageTable("SQLite");
const alone = new DamageTable("SQLite", "SQLite alone");
let place: TestPlace;
let source: SourceConfigOf<"sqlite">;
let backup: MadeBackup;
let passed: RestoreTestResult;

const ROWS = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)";
const filled = (name: string): string =>
  `create table ${name} (id integer primary key, note text); ${ROWS} insert into ${name} select i, 'note ' || i from n;`;
const TABLES = ["steady", "halved", "emptied", "dropped", "changed"].map(filled);
const SCHEMA = `
  create table narrowed (id bigint, note text); ${ROWS} insert into narrowed select i, 'note' from n;
  create table numbered (id integer primary key autoincrement, n int check (n > 0)); ${ROWS} insert into numbered (n) select i from n;
  create index by_n on numbered (n);
  create trigger touched after update on numbered begin select 1; end;
  create view few as select * from numbered limit 5;`;

beforeAll(async () => {
  place = await makeTestPlace();
  source = {
    slug: "shop",
    engine: "sqlite",
    sandbox: "process",
    checkTimeout_s: 30,
    checks: [],
    path: make("shop", [...TABLES, SCHEMA].join("\n")),
  };
  backup = await back();
  passed = await testIt(backup);
});

afterAll(() => place.remove());

function make(name: string, sql: string, from?: string): string {
  const path = join(place.dir, `${name}.sqlite`);
  rmSync(path, { force: true });
  if (from !== undefined) copyFileSync(from, path);
  const database = new DatabaseSync(path, { defensive: false });
  database.exec(`pragma writable_schema = on; ${sql}`);
  database.close();
  return path;
}

const back = (path = source.path): Promise<MadeBackup> => backUp(place, { ...source, path });

const testIt = (
  made: MadeBackup,
  instead: Resealed = made,
  seen?: EarlierTests,
): Promise<RestoreTestResult> => testBackup(place, source, made, { instead, seen });

const testBytes = async (bytes: Buffer): Promise<RestoreTestResult> =>
  testIt(backup, await reseal(place, bytes));

test("damage at the source is noticed as the table says", async () => {
  expect(passed.reason).toBeUndefined();
  const sql = `alter table dropped rename to gone; delete from emptied; delete from halved where id > 50;
    delete from steady where id > 90; drop index by_n`;
  const made = await back(make("damaged", sql, source.path));
  const tested = await testIt(made, made, seenForDays(passed));
  table.noticed("a table dropped or renamed at the source", tested, "dropped");
  table.noticed("a table emptied at the source", tested, "inferred:rows:emptied");
  table.noticed("half of a table's rows deleted at the source", tested, "inferred:rows:halved");
  table.noticed("10 % of a steady table's rows deleted at the source", tested, "inferred:rows:steady");
  expect(made.sourceMetadata["schema_hash"]).not.toBe(backup.sourceMetadata["schema_hash"]);
  table.says("an index dropped at the source", "reported as drift");
});

test("objects that the source lost are missed, each kind by name", async () => {
  const made = await back(
    make("damaged", "drop index by_n; drop trigger touched; drop view few", source.path),
  );
  const tested = await testIt(made, made, seenForDays(passed));
  alone.noticed("all indexes dropped at the source", tested, "indexes 0 of");
  alone.noticed("all triggers dropped at the source", tested, "triggers 0 of");
  alone.noticed("all views dropped at the source", tested, "views 0 of");
});

test("one object of several that the source lost fails nothing, and is told", async () => {
  const more = [1, 2, 3].map(
    (n) =>
      `create trigger t${n} after update on numbered begin select 1; end; create view v${n} as select 1 as one;`,
  );
  const before = await back(make("several", more.join(""), source.path));
  const usual = await testIt(before);
  const made = await back(
    make("damaged", "drop trigger t2; drop view v2", join(place.dir, "several.sqlite")),
  );
  const tested = await testIt(made, made, seenForDays(usual));
  expect(tested.result, tested.reason).toBe("passed");
  expect(tested.checks.find(({ id }) => id === "inferred:kinds")?.observed).toMatchObject({
    fewer: "triggers 3 of 4, views 3 of 4",
  });
  expect(made.sourceMetadata["schema_hash"]).not.toBe(before.sourceMetadata["schema_hash"]);
  expect(JSON.stringify(made.sourceMetadata["schema_summary"])).not.toContain("trigger t2");
  expect(JSON.stringify(before.sourceMetadata["schema_summary"])).toContain("trigger t2");
  alone.says("a trigger or view of several dropped at the source", "reported as drift");
});

/** Each list is one dump: a receipt has no room to name everything at once. */
const ON_THE_WAY: readonly (readonly (readonly [what: string, sql: string, names: string])[])[] = [
  [
    ["a table lost on the way", "drop table dropped", "dropped"],
    ["a row lost on the way", "delete from emptied where id = 7", "emptied"],
    ["one value changed on the way", "update changed set note = 'mote 7' where id = 7", "changed"],
    [
      "the next value of a sequence or key reset on the way",
      "update sqlite_sequence set seq = 1",
      "that the receipt does not name",
    ],
  ],
  [
    [
      "a column's type narrowed on the way",
      "update sqlite_schema set sql = replace(sql, 'bigint', 'int') where name = 'narrowed'",
      "table narrowed (other)",
    ],
    [
      "a constraint lost on the way",
      "update sqlite_schema set sql = replace(sql, ' check (n > 0)', '') where name = 'numbered'",
      "table numbered (other)",
    ],
    ["an index lost on the way", "drop index by_n", "index by_n (missing)"],
    ["a trigger lost on the way", "drop trigger touched", "trigger touched (missing)"],
    ["a view lost on the way", "drop view few", "view few (missing)"],
    ["something added on the way", "create view more as select 1", "view more (not at the source)"],
  ],
];

test.each(ON_THE_WAY.map((each) => [each]))("on the way: %#", async (damages) => {
  const sql = damages.map((each) => each[1]).join(";\n");
  const tested = await testBytes(readFileSync(make("damaged", sql, source.path)));
  for (const [what, , names] of damages) table.noticed(what, tested, names);
});

test("another database, bytes that are lost or other, and another order of the tables", async () => {
  const other = await testBytes(readFileSync(make("other", filled("steady"))));
  table.noticed("another database's dump in its place", other, "dropped");
  expect(await testIt(backup, await flipBit(place, backup))).toMatchObject({ result: "failed", checks: [] });
  table.says("a bit flipped in what is stored", "refused");
  const whole = readFileSync(source.path);
  expect((await testBytes(whole.subarray(0, whole.length * 0.8))).result).toBe("failed");
  table.says("the end of the dump cut off", "refused");
  const page = Buffer.from(whole);
  page.fill(0xff, 4096 * 3, 4096 * 4);
  table.noticed("a page damaged on the way", await testBytes(page), "inferred:integrity");
  const turned = await testBytes(readFileSync(make("turned", [SCHEMA, ...TABLES.toReversed()].join("\n"))));
  expect(turned.reason).toBeUndefined();
  table.says("the tables in another order", "passes");
});

/** What only SQLite has. */
const OWN = `
  create table typed (v); insert into typed values ('text'), (7);
  create table numbers (v); insert into numbers values (7);
  create table cut (v); insert into cut values ('a' || char(0) || 'b');
  create table foreign_bytes (v); insert into foreign_bytes values (cast(x'61ff' as text));
  create table a_one (v); create table a_two (v); insert into a_one values (1); insert into a_two values (2);
  create table sorted (v text collate nocase) strict;
  create table derived (v int, twice int as (v * 2) stored);
  create table parent (id integer primary key); create table child (id integer references parent (id));
  create unique index only_large on numbers (v) where v > 5;
  create virtual table words using fts5(body); insert into words values ('please leave the parcel');
  pragma user_version = 7; analyze;`;

/** As above: each list is one dump. */
const ON_ITS_WAY: typeof ON_THE_WAY = [
  [
    ["a text made bytes on the way", "update typed set v = cast(v as blob) where v = 'text'", "typed"],
    ["an integer made a real number on the way", "update numbers set v = 7.0", "numbers"],
    ["a text cut at a NUL on the way", "update cut set v = 'a'", "cut"],
    [
      "bytes that are not UTF-8 replaced on the way",
      "update foreign_bytes set v = 'a' || char(0xfffd)",
      "foreign",
    ],
    ["what ANALYZE counted lost on the way", "delete from sqlite_stat1", "that the receipt does not name"],
  ],
  [
    [
      "the pages of two tables exchanged on the way",
      `create table roots as select name, rootpage from sqlite_schema;
       update sqlite_schema set rootpage = (select rootpage from roots where name = iif(sqlite_schema.name = 'a_one', 'a_two', 'a_one'))
         where name in ('a_one', 'a_two'); drop table roots`,
      "a_one, a_two",
    ],
  ],
  [["a full-text index changed on the way", "delete from words_data where id > 10", "fts5"]],
  [
    [
      "a trigger added under a name of SQLite's own on the way",
      "insert into sqlite_schema values ('trigger', 'sqlite_touched', 'typed', 0, 'create trigger sqlite_touched after insert on typed begin delete from cut; end')",
      "trigger sqlite_touched (not at the source)",
    ],
    ["STRICT lost on the way", other("sorted", " strict", ""), "table sorted (other)"],
    [
      "a generated column's expression changed on the way",
      other("derived", "v * 2", "v * 3"),
      "table derived (other)",
    ],
    ["a foreign key lost on the way", other("child", " references parent (id)", ""), "table child (other)"],
    ["the user version changed on the way", "pragma user_version = 8", "setting user_version (other)"],
  ],
  [
    ["a column's collation changed on the way", other("sorted", "nocase", "rtrim"), "table sorted (other)"],
    [
      "an index's condition changed on the way",
      other("only_large", "v > 5", "v > 6"),
      "index only_large (other)",
    ],
  ],
  [["an index no longer unique on the way", other("only_large", "UNIQUE ", ""), "index only_large (other)"]],
];

function other(name: string, from: string, to: string): string {
  return `update sqlite_schema set sql = replace(sql, '${from}', '${to}') where name = '${name}'`;
}

test("what only SQLite has is noticed as its table says, and passes where nothing happened", async () => {
  const path = make("own", OWN);
  const made = await back(path);
  expect((await testIt(made)).reason).toBeUndefined();
  for (const damages of ON_ITS_WAY) {
    const sql = damages.map((each) => each[1]).join(";\n");
    const tested = await testIt(made, await reseal(place, readFileSync(make("damaged", sql, path))));
    for (const [what, , names] of damages) alone.noticed(what, tested, names);
  }
  const bytes = readFileSync(path);
  // SQLite opens such a file as if nothing was wrong, but nobody can write to it any more.
  bytes[18] = 3;
  const locked = await testIt(made, await reseal(place, bytes));
  expect(locked).toMatchObject({ result: "failed", checks: [] });
  expect(locked.reason).toContain("may only read it");
  alone.says("a header changed on the way so that nobody may write", "refused");
});

/** SQLite takes any two bytes for the second half of such a character. */
test("the second half of a character in UTF-16, in a row or a definition", async () => {
  const path = make(
    "wide",
    `pragma encoding = 'UTF-16le'; create table wide (v, "\u{1f600}" default '\u{1f680}');
     insert into wide (v) values ('\u{1f4e6}' || char(0) || 'b'), (cast(x'41d8' as text));`,
  );
  const made = await back(path);
  expect((await testIt(made)).reason).toBeUndefined();
  const what = "half of a character in UTF-16 changed on the way";
  for (const [character, names] of [
    ["\u{1f4e6}", "inferred:content"],
    ["\u{1f680}", "table wide (other)"],
  ] as const) {
    const bytes = readFileSync(path);
    bytes[bytes.indexOf(Buffer.from(character, "utf16le")) + 3]! ^= 0x80;
    const tested = await testIt(made, await reseal(place, bytes));
    expect(tested.reason).toContain(names);
    if (names === "inferred:content") alone.noticed(what, tested, "wide");
  }
});

test("every case of the tables is here", () => {
  table.everyCaseIsHeld();
  alone.everyCaseIsHeld();
});
