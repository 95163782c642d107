import { createHash, createHmac } from "node:crypto";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { comparedContentText } from "@attestore/proof";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { readContent } from "../../src/engines/sqlite/content/row-digests.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";

/** What came back is what went in: the content of SQLite's tables. */

let place: TestPlace;
let source: SourceConfigOf<"sqlite">;

beforeEach(async () => {
  place = await makeTestPlace();
  source = {
    slug: "shop",
    engine: "sqlite",
    sandbox: "process",
    checkTimeout_s: 30,
    checks: [],
    path: join(place.dir, "shop.sqlite"),
  };
});
afterEach(() => place.remove());

function make(sql: string, path = source.path): void {
  const database = new DatabaseSync(path, { defensive: false });
  database.exec(sql);
  database.close();
}

const back = (): Promise<MadeBackup> => backUp(place, source);

function testIt(
  made: Pick<MadeBackup, "path" | "sha256" | "sourceMetadata">,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<RestoreTestResult> {
  return testBackup(place, source, made, { metadata });
}

/** The same backup with a dump to which something happened on the way. */
async function testChanged(made: MadeBackup, sql: string): Promise<RestoreTestResult> {
  const copy = join(place.dir, "changed.sqlite");
  copyFileSync(source.path, copy);
  make(`pragma ignore_check_constraints = on; pragma foreign_keys = off; ${sql}`, copy);
  const bytes = readFileSync(copy);
  rmSync(copy);
  const resealed = await reseal(place, bytes);
  return testIt({ ...resealed, sourceMetadata: made.sourceMetadata }, { plaintext_size_bytes: bytes.length });
}

const checkOf = (tested: RestoreTestResult, id: string) => tested.checks.find((check) => check.id === id);
const failedOf = ({ checks }: RestoreTestResult) =>
  checks.filter(({ result }) => result === "failed").map(({ id }) => id);

/** Everything that could make an honest copy look like another. */
const EVERYTHING = `
  create table kinds (a, "b ""c" any, c real, d int, e text, f blob, primary key (e));
  insert into kinds values (1, 1.0, 1, '1', 'one', x'31'), (-9223372036854775808, 9223372036854775807, -0.0, 1.5, 'two', zeroblob(3)),
    (0.1, 1e300, 9e999, -9e999, 'three', ''), (5e-324, 1.7976931348623157e308, 0.1, null, '', x''), ('text', x'00ff', null, 'x', cast(x'ff00fe' as text), 'a' || char(0) || 'b');
  create table far (n); insert into far (rowid, n) values (-9223372036854775808, 1), (-1, 2), (0, 3), (9223372036854775807, 4);
  create table shadowing (rowid text, _rowid_ text, oid text); insert into shadowing values ('a', 'b', 'c');
  create table half (rowid text, n); insert into half values ('a', 1);
  create table keyed (a text collate nocase, b real, primary key (a, b desc)) without rowid; insert into keyed values ('b', 2.5), ('A', 1), ('a', 3);
  create table made (n int, stored int generated always as (n * 2) stored, gone int as (n * 3)); insert into made (n) values (1), (2);
  create table exact (n int, r real, t text, b blob, x any) strict; insert into exact values (1, 2, '3', x'04', 5.5);
  create table counted (id integer primary key autoincrement, n); insert into counted (n) values (1), (2); delete from counted where id = 2;
  create table wide (${Array.from({ length: 700 }, (_, n) => `c${n}`).join(", ")}); insert into wide (c0, c699) values (0.5, 'last');
  create table empty (n);
  create table gaps (n); insert into gaps values (1), (2), (3); delete from gaps where n = 2;
  create virtual table found using fts5 (body); insert into found values ('a note'), ('another');
  create virtual table near using rtree (id, x0, x1); insert into near values (1, 1.5, 2.5);
  create index kinds_c on kinds (c); create view cheap as select * from kinds; create trigger t after insert on far begin select 1; end;
  create table many (id integer primary key, note text, price real);
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 45000) insert into many select i * 2, 'note ' || i, i * 0.1 from n;
  alter table empty add column later default 7.25; insert into empty (n) values (1);
  analyze; pragma user_version = 42; pragma application_id = 77;`;

describe("an unchanged copy with something of every kind passes", () => {
  test.each([
    ["UTF-8", ""],
    ["UTF-16le", "pragma encoding = 'UTF-16le';"],
    ["UTF-16be", "pragma encoding = 'UTF-16be';"],
    ["write-ahead log", "pragma journal_mode = wal;"],
    ["small pages that are vacuumed", "pragma page_size = 512; pragma auto_vacuum = full;"],
  ])("%s", async (_, first) => {
    make(`${first} ${EVERYTHING}`);
    const made = await back();
    const { tables, content } = made.sourceMetadata as unknown as {
      tables: { name: string; content?: string }[];
      content: { tables: number; not_compared: object; rest: { tables: number } };
    };
    expect(tables.filter((each) => each.content === undefined)).toEqual([]);
    expect(content.not_compared).toEqual({ count: 0, named: [] });
    expect(content.tables).toBe(tables.length + content.rest.tables);
    const tested = await testIt(made);
    expect(tested.reason).toBeUndefined();
    expect(checkOf(tested, "inferred:content")).toMatchObject({
      result: "passed",
      observed: { tables: content.tables, differing: 0, not_compared: 0 },
    });
    expect(checkOf(tested, "inferred:objects")).toMatchObject({ result: "passed" });
    expect(comparedContentText(tested.checks)).toMatch(
      /^content of \d+ tables compared; \d+ objects compared$/,
    );
  });
});

test("any difference in a table fails the test, which names each table and quotes no row", async () => {
  make(EVERYTHING.replace("analyze;", ""));
  const made = await back();
  const tested = await testChanged(
    made,
    `update many set note = 'mote 4711' where note = 'note 4711';
     update keyed set b = 2.25 where b = 2.5;
     update made set n = 3 where n = 2;
     delete from gaps where n = 3; insert into gaps (rowid, n) values (9, 3);
     update empty set later = null;
     update wide set c698 = 1;
     update sqlite_sequence set seq = 3`,
  );
  expect(failedOf(tested)).toEqual(["inferred:content"]);
  const differing = String(checkOf(tested, "inferred:content")?.observed["differing_tables"]).split(", ");
  expect(differing.toSorted()).toEqual([
    "empty",
    "gaps",
    "keyed",
    "made",
    "many",
    "one of the 9 tables that the receipt does not name",
    "wide",
  ]);
  expect(tested.reason).toMatch(/the content of \w+ differs from the dump, and that of 6 more too/);
  expect(JSON.stringify(tested)).not.toMatch(/[nm]ote \d|a note/);
});

describe("one value changed, or of another type, fails the test", () => {
  test.each([
    "update kinds set a = '1' where a = 1",
    "update kinds set a = 1.0 where a = 1",
    "update kinds set b = cast(b as text)",
    "update kinds set b = null",
    "update kinds set b = x'00' where b = x'0000'",
    "update kinds set c = 0.30000000000000004",
    "update kinds set rowid = rowid + 1",
  ])("%s", async (sql) => {
    make("create table kinds (a, b, c real); insert into kinds values (1, x'0000', 0.3)");
    const tested = await testChanged(await back(), sql);
    expect(failedOf(tested)).toEqual(["inferred:content"]);
    expect(tested.reason).toContain("the content of kinds differs from the dump");
  });
});

test("a missing, changed or additional index, trigger, view or setting fails the test, which names it", async () => {
  make(EVERYTHING);
  const tested = await testChanged(
    await back(),
    `drop index kinds_c; drop trigger t; create trigger t after insert on far begin select 2; end;
     drop view cheap; create view cheap as select * from kinds where a > 1; create view more as select 1;
     pragma user_version = 43; pragma application_id = 78`,
  );
  expect(failedOf(tested)).toContain("inferred:objects");
  const observed = checkOf(tested, "inferred:objects")?.observed;
  expect(observed).toMatchObject({ differing: 6 });
  expect(String(observed?.["differing_objects"]).split(", ").toSorted()).toEqual([
    "index kinds_c (missing)",
    "setting application_id (other)",
    "setting user_version (other)",
    "trigger t (other)",
    "view cheap (other)",
    "view more (not at the source)",
  ]);
});

test("more tables than a receipt names are compared all the same", async () => {
  make(
    Array.from({ length: 320 }, (_, n) => `create table t${n} (n); insert into t${n} values (${n});`).join(
      " ",
    ),
  );
  const made = await back();
  expect(made.sourceMetadata["content"]).toMatchObject({ tables: 320, rest: { tables: 20 } });
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:content")?.observed).toMatchObject({ tables: 320, not_compared: 0 });
});

test("tables of as many columns as SQLite takes are compared, each value of them", async () => {
  const columns = (count: number): string => Array.from({ length: count }, (_, n) => `c${n}`).join(", ");
  make(`create table widest (${columns(2000)}); insert into widest (c0, c1899, c1999) values (0.5, 'a', 0.5), (1, 2, 3);
    create table fits (${columns(1979)}); insert into fits (c0, c1978) values (0.5, 0.5);
    create table keyed (${columns(2000)}, primary key (c1999, c0)) without rowid; insert into keyed (c0, c1, c1999) values (0.5, 'a', 'b'), (2, 1.5, 'a')`);
  const made = await back();
  expect(made.sourceMetadata["content"]).toMatchObject({ tables: 3, not_compared: { count: 0 } });
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:content")?.observed).toMatchObject({ tables: 3, not_compared: 0 });
  for (const [table, change] of [
    ["widest", "c1999 = 0.25 where c1999 = 0.5"],
    ["widest", "c1899 = x'61' where c1899 = 'a'"],
    ["widest", "c0 = 0.25 where c0 = 0.5"],
    ["keyed", "c1999 = 'c' where c1999 = 'b'"],
    ["keyed", "c1 = 1.25 where c1 = 1.5"],
  ] as const) {
    const changed = await testChanged(made, `update ${table} set ${change}`);
    expect(failedOf(changed), change).toEqual(["inferred:content"]);
    expect(changed.reason).toContain(`the content of ${table} differs from the dump`);
  }
});

test("a table that SQLite here cannot read is named, and the others are compared", async () => {
  make(`create table plain (n); insert into plain values (1);
    create table keyed (a text primary key, n) without rowid; insert into keyed values ('a', 1);
    pragma writable_schema = on; update sqlite_schema set sql = replace(sql, 'a text primary', 'a text collate own primary') where name = 'keyed';`);
  const made = await back();
  expect(made.sourceMetadata["content"]).toMatchObject({
    tables: 1,
    not_compared: { count: 1, named: [{ name: "keyed", why: "not_read" }] },
  });
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:content")?.observed).toMatchObject({
    tables: 1,
    not_compared: 1,
    not_compared_tables: "keyed (not_read)",
  });
});

test("a digest can be recomputed with an identity; the metadata alone confirm no guess", async () => {
  make(
    "create table prices (name text, price real, n int, picture blob); insert into prices values ('é', 1.5, -7, x'00ff'), (null, 2, null, null)",
  );
  const made = await back();
  const key = await openContentKey(made.sourceMetadata, [place.identity]);
  const sha256 = createHash("sha256")
    .update("1,tC3A9,r,-7,b00FF;3ff8000000000000\n2,n,r,n,n;4000000000000000\n")
    .digest("hex");
  const tag = createHmac("sha256", key ?? "")
    .update(JSON.stringify(["prices", ["name", "price", "n", "picture"], sha256]))
    .digest("hex")
    .slice(0, 32);
  expect(made.sourceMetadata["tables"]).toMatchObject([{ name: "prices", content: tag }]);
  expect(JSON.stringify(made.sourceMetadata)).not.toContain(sha256);
});

test("an older backup without digests is tested as before, and its content is not called compared", async () => {
  make("create table t (n); insert into t values (1)");
  const made = await back();
  for (const without of ["content", "content_key"]) {
    const tested = await testIt(made, { [without]: undefined });
    expect(tested.reason).toBeUndefined();
    expect(comparedContentText(tested.checks)).toBe("content not compared");
  }
});

test("rows that refer to nothing are shown; more or fewer than in the dump fail the test", async () => {
  make(`pragma foreign_keys = off;
    create table orders (id integer primary key);
    create table lines (id integer primary key, order_id references orders (id));
    insert into orders values (1); insert into lines values (1, 1), (2, 7), (3, null), (4, 8);`);
  const made = await back();
  expect(made.sourceMetadata["foreign_keys"]).toEqual({ broken: 2 });
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:foreign_keys")).toMatchObject({
    result: "passed",
    observed: { broken: 2, tables: "lines" },
  });
  const changed = await testChanged(made, "update lines set order_id = 9 where id = 1");
  expect(failedOf(changed)).toEqual(["inferred:foreign_keys", "inferred:content"]);
  const mended = await testChanged(made, "insert into orders values (7), (8)");
  expect(failedOf(mended)).toContain("inferred:foreign_keys");
});

test("names that are not UTF-8 are named as not read, and everything else is compared", async () => {
  const withLatin = (sql: string): void => {
    make(sql);
    // As an application left it that wrote its SQL in ISO 8859-1.
    const bytes = readFileSync(source.path).toString("latin1").replaceAll("cafX", "caf\xe9");
    writeFileSync(source.path, bytes, "latin1");
  };
  withLatin(
    "create table cafX (n); insert into cafX values (1); create table t (cafX int); insert into t values (2); create table plain (n); insert into plain values (3)",
  );
  const tested = await testIt(await back());
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:tables")?.observed).toMatchObject({ not_read_tables: "caf\uFFFD" });
  expect(checkOf(tested, "inferred:content")?.observed).toMatchObject({
    tables: 1,
    not_compared_tables: "t (not_read), caf\uFFFD (not_read)",
  });
  rmSync(source.path);
  withLatin("create table cafX (n); insert into cafX values (1)");
  expect(await testIt(await back()).catch((error: unknown) => error)).toMatchObject({
    code: "sandbox_lacks",
  });
});

test("rows that break a check constraint at the source are in the copy too, and fail no test", async () => {
  make("create table t (n check (n > 0)); pragma ignore_check_constraints = on; insert into t values (-1)");
  const tested = await testIt(await back());
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:integrity")).toMatchObject({ result: "passed" });
});

test("foreign keys that SQLite cannot look at are not called looked at", async () => {
  make(`pragma foreign_keys = off; create table orders (id); create table lines (order_id references orders (id));
    insert into orders values (1); insert into lines values (1)`);
  const made = await back();
  expect(made.sourceMetadata).not.toHaveProperty("foreign_keys");
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:foreign_keys")).toBeUndefined();
});

describe("where readers keep writers waiting", () => {
  const read = (whenAsked: (times: number) => void, limits = { until: Infinity, transactionUntil: 0 }) => {
    make(EVERYTHING.replace("analyze;", ""));
    const database = new DatabaseSync(source.path, { readOnly: true });
    database.exec("begin");
    database.prepare("select 1 from sqlite_schema").get();
    let times = 0;
    database.setAuthorizer((_, name) => {
      if (name === "data_version") whenAsked((times += 1));
      return 0;
    });
    try {
      return readContent(database, limits, { version: 5, file: source.path });
    } finally {
      database.setAuthorizer(null);
      database.close();
    }
  };

  test("they wait no longer than needed, and unchanged files are recognised", () => {
    expect(read(() => undefined)).toMatchObject({ notRead: [] });
  });

  test("rows that were read while one of them wrote are unknown", () => {
    const { tables, notRead } = read((times) => {
      if (times === 2) make("update far set n = 9");
    });
    expect(tables).toEqual([]);
    expect(notRead.length).toBeGreaterThan(15);
    expect(new Set(notRead.map(({ why }) => why))).toEqual(new Set(["source_changed"]));
  });

  test("tables for which there was no time are unknown too", () => {
    const { tables, notRead } = read(() => undefined, { until: 0, transactionUntil: 0 });
    expect(tables).toEqual([]);
    expect(new Set(notRead.map(({ why }) => why))).toEqual(new Set(["no_time"]));
  });
});
