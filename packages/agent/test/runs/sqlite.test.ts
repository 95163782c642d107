import type { SchemaSummary } from "../../src/engines/schema.ts";
import { createHash } from "node:crypto";
import { existsSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { smallestFirst, tablesOf } from "../../src/engines/sqlite/describe.ts";
import { SqliteProcess } from "../../src/engines/sqlite/sqlite-process.ts";
import { sqlite } from "../../src/engines/sqlite/index.ts";
import { describe, expect, test } from "vitest";
import { reseal } from "./scratch.ts";
import { back, changeSource, never, place, source, testIt, useShopOnSqlite } from "./shop-on-sqlite.ts";

useShopOnSqlite();

test("a backup restores, with every number exact", async () => {
  const made = await back();
  expect(made.sourceMetadata).toMatchObject({
    engine: "sqlite",
    dump_format: "sqlite3-file",
    table_count: 2,
    tables: [
      { name: "items", rows: 5000 },
      { name: 'odd "name', rows: 1 },
    ],
  });
  const tested = await testIt(made, [
    { id: "large", query: 'select large from "odd ""name";', expect: "large = 9007199254740993" },
    {
      id: "sum",
      query: "select count(*) as n, max(price) as most, typeof(picture) as picture from items -- all",
      expect: "n = 5000 and most = 500 and picture = 'null'",
    },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.map(({ id, result }) => `${id} ${result}`)).toEqual([
    "inferred:integrity passed",
    "inferred:tables passed",
    "inferred:rows:items passed",
    'inferred:rows:odd "name passed',
    "large passed",
    "sum passed",
    "inferred:kinds passed",
    "inferred:schema passed",
    "inferred:content passed",
    "inferred:objects passed",
  ]);
  expect(await place.leftovers()).toEqual([`${made.sha256}.age`]);
});

test("half of a transaction that a killed application left is undone in the copy, and the source stays as it is", async () => {
  const database = new DatabaseSync(source.path);
  // With room for few pages SQLite writes some of them before the transaction ends.
  database.exec("pragma cache_size = 2; begin; update items set name = 'half', price = -1");
  const files = [source.path, `${source.path}-journal`];
  const left = files.map((path) => readFileSync(path));
  database.exec("rollback");
  database.close();
  for (const [index, path] of files.entries()) await writeFile(path, left[index] ?? "");
  const made = await back();
  expect(files.map((path) => readFileSync(path).equals(left[files.indexOf(path)] ?? Buffer.of()))).toEqual([
    true,
    true,
  ]);
  const tested = await testIt(made, [
    { id: "whole", query: "select count(*) as n from items where name like 'item %'", expect: "n = 5000" },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(await place.leftovers()).toEqual([`${made.sha256}.age`]);
});

test("a damaged page is found by the integrity check", async () => {
  // In the middle of the table's pages: everything opens and counts, and a row is wrong.
  const file = openSync(source.path, "r+");
  const at = readFileSync(source.path).indexOf("item 2500");
  writeSync(file, "jtem 2500", at);
  const made = await back();
  const tested = await testIt(made);
  expect(tested.result).toBe("failed");
  expect(tested.checks[0]).toMatchObject({ id: "inferred:integrity", result: "failed" });
  expect(JSON.stringify(tested)).not.toContain("tem 2500");
});

test("a database without a table proves nothing by itself", async () => {
  const database = new DatabaseSync(source.path);
  database.exec('drop view cheap; drop table items; drop table "odd ""name"');
  database.close();
  const made = await back();
  expect(await testIt(made)).toMatchObject({ result: "failed", reason: expect.stringContaining("no check") });
});

test("checks that do not hold, and a query without end", async () => {
  const made = await back();
  const tested = await testIt(made, [
    { id: "none", query: "select 1 as n where 0", expect: "n = 1" },
    { id: "several", query: "select id as n from items", expect: "n >= 1" },
    { id: "mistake", query: "select n from nowhere", expect: "n = 1" },
    { id: "write", query: "delete from items", expect: "n = 1" },
    { id: "attach", query: `attach '${place.dir}/made-by-a-check' as x`, expect: "n = 1" },
    { id: "twice", query: "select 1 as n, 2 as n", expect: "n = 1" },
    { id: "infinite", query: "select 1e999 as n", expect: "n > 1" },
  ]);
  expect(tested.checks.filter(({ id }) => !id.startsWith("inferred:")).map(({ result }) => result)).toEqual(
    Array.from({ length: 7 }, () => "failed"),
  );
  expect(readdirSync(place.dir)).not.toContain("made-by-a-check");
  changeSource({ checkTimeout_s: 1 });
  const endless = testIt(made, [
    {
      id: "endless",
      query: "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n",
      expect: "n = 1",
    },
  ]);
  const { result, checks } = await endless;
  expect(result).toBe("failed");
  expect(checks.find(({ id }) => id === "endless")?.observed).toEqual({
    error:
      "the query did not end within 1 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
  });
  expect(await place.leftovers()).toEqual([`${made.sha256}.age`]);
});

describe("a file that is no database", () => {
  test("is not backed up", async () => {
    await writeFile(source.path, "this is no database, however long it is".repeat(100));
    await expect(back()).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining("not a database"),
    });
    expect(await place.leftovers()).toEqual([]);
  });

  test("is not there, or is a directory", async () => {
    changeSource({ path: join(place.dir, "nowhere.sqlite") });
    await expect(back()).rejects.toMatchObject({ code: "source_missing" });
    changeSource({ path: place.dir });
    await expect(back()).rejects.toMatchObject({ code: "source_missing" });
    expect(await place.leftovers()).toEqual([]);
  });

  test("does not pass a restore test", async () => {
    const { writeBlob } = await import("../../src/crypto/blob.ts");
    const { seal } = await import("../../src/crypto/seal.ts");
    for (const content of ["no database, however long it is".repeat(100), ""]) {
      async function* whole(): AsyncGenerator<Buffer> {
        yield Buffer.from(content);
        await Promise.resolve();
      }
      const made = await writeBlob(seal(whole(), [place.recipient]), place.blobs, never);
      const tested = await testIt(made, [], {
        tables: [{ name: "items", rows: 1 }],
        schema_hash: createHash("sha256").digest("hex"),
      });
      expect(tested.result, content).toBe("failed");
    }
  });
});

test("a file whose views reach outside, or never end, gets nothing and does not pass", async () => {
  const left = "/tmp/attestore-sqlite-was-here";
  const views = {
    loads: "select load_extension('/usr/lib/x86_64-linux-gnu/libsqlite3.so.0') as n from items",
    tokenizer: "select fts3_tokenizer('simple', x'4141414141414141') as n from items",
    reads: "select readfile('/etc/passwd') as n from items",
    writes: `select writefile('${left}', 'x') as n from items`,
    endless:
      "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n, items",
    long: "select hex(zeroblob(400000000)) || hex(zeroblob(90000000)) as n from items",
  };
  const database = new DatabaseSync(source.path, { defensive: false });
  for (const [name, query] of Object.entries(views)) database.exec(`create view ${name} as ${query}`);
  database.close();
  changeSource({ checkTimeout_s: 5 });
  const tested = await testIt(
    await back(),
    Object.keys(views).map((id) => ({ id, query: `select n from ${id} limit 1`, expect: "n is not null" })),
  );
  const failed = tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id);
  expect(failed).toEqual(Object.keys(views));
  expect(tested.result).toBe("failed");
  expect(existsSync(left)).toBe(false);

  // As SQLite itself would not write it.
  const again = new DatabaseSync(source.path, { defensive: false });
  again.exec(
    `pragma writable_schema = on; insert into sqlite_schema values ('view', 'other', 'other', 0, 'create view other as attach ''${left}'' as other')`,
  );
  again.close();
  const bytes = readFileSync(source.path);
  const made = await reseal(place, bytes);
  expect(await testIt(made, [], { plaintext_size_bytes: bytes.length })).toMatchObject({
    result: "failed",
    reason: expect.stringContaining("malformed"),
  });
});

test("an interrupted backup leaves nothing", async () => {
  const controller = new AbortController();
  const backing = back(controller.signal);
  await expect.poll(() => place.leftovers()).not.toEqual([]);
  controller.abort();
  await expect(backing).rejects.toMatchObject({ code: "interrupted" });
  expect(await place.leftovers()).toEqual([]);
});

test("the summary of the schema names columns and indexes", async () => {
  const dump = await sqlite.dump(source, { scratchDir: place.scratch, signal: never });
  try {
    const metadata = await dump.metadata();
    const { objects } = metadata["schema_summary"] as SchemaSummary;
    expect(objects.length).toBeGreaterThan(0);
    for (const { kind, parts } of objects.filter(({ kind: each }) => each === "table"))
      expect(
        Object.keys(parts ?? {}).some((name) => name.startsWith("column ")),
        kind,
      ).toBe(true);
  } finally {
    await dump.close();
  }
});

test("the schema's hash follows the schema, not the data", async () => {
  const hash = async (): Promise<string> => (await back()).sourceMetadata.schema_hash;
  const run = (sql: string): void => {
    const database = new DatabaseSync(source.path);
    database.exec(sql);
    database.close();
  };
  const before = await hash();
  run("insert into items (name) values ('new'); analyze; vacuum");
  expect(await hash()).toBe(before);
  run("alter table items add column extra");
  expect(await hash()).not.toBe(before);
});

test("the smallest tables are counted first, whatever their names are", async () => {
  const database = new DatabaseSync(source.path);
  database.exec(
    `create table apart (k text primary key) without rowid; create table few (a); insert into few values (1), (2), (3)`,
  );
  database.close();
  const process = new SqliteProcess(never);
  try {
    const names = await tablesOf(process, source.path);
    expect(names).toEqual(["apart", "few", "items", 'odd "name']);
    expect(await smallestFirst(process, source.path, names)).toEqual(['odd "name', "few", "items", "apart"]);
  } finally {
    await process.close();
  }
});
