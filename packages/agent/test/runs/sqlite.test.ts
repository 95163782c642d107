import type { SchemaSummary } from "../../src/engines/schema.ts";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { smallestFirst, tablesOf } from "../../src/engines/sqlite/describe.ts";
import { SqliteProcess } from "../../src/engines/sqlite/sqlite-process.ts";
import { sqlite } from "../../src/engines/sqlite/index.ts";
import { notLookedAt } from "@attestore/proof";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { backUp } from "./back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";

const never = new AbortController().signal;
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
  const database = new DatabaseSync(source.path);
  database.exec(`
    create table items (id integer primary key, name text not null, price real, picture blob);
    create index items_name on items (name);
    create view cheap as select * from items where price < 10;
    create table "odd ""name" (large integer);
    insert into "odd ""name" values (9007199254740993);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
      insert into items (name, price) select 'item ' || i, i * 0.1 from n;
  `);
  database.close();
});
afterEach(() => place.remove());

const back = (signal = never): Promise<MadeBackup> => backUp(place, source, signal);

function testIt(
  made: Pick<MadeBackup, "path" | "sha256"> & Partial<MadeBackup>,
  checks: CheckConfig[] = [],
  metadata: object = made.sourceMetadata ?? {},
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source: { ...source, checks },
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify(metadata)) as Record<string, unknown>,
    signal: never,
  });
}

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
    "inferred:schema passed",
    "inferred:content passed",
    "inferred:objects passed",
  ]);
  expect(await place.leftovers()).toEqual([`${made.sha256}.age`]);
});

test.each([
  ["wal", 3],
  ["delete", 1],
] as const)("what somebody writes meanwhile makes no half of a transaction: %s", async (mode, rounds) => {
  const database = new DatabaseSync(source.path);
  database.exec(`pragma journal_mode = ${mode}; create table a (n); create table b (n)`);
  database.close();
  const script = `
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(source.path)}, { timeout: 10_000 });
    process.stdout.write("ready\\n");
    for (let i = 0; ; i++) database.exec("begin; insert into a values (" + i + "); insert into b values (" + i + "); commit");`;
  const writer = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(writer.stdout, "data");
  try {
    for (let round = 0; round < rounds; round++) {
      const made = await back();
      const tested = await testIt(made, [
        {
          id: "same",
          query: "select (select count(*) from a) = (select count(*) from b) as same",
          expect: "same = 1",
        },
      ]);
      expect(tested.reason).toBeUndefined();
      // Without WAL there may be no time in which nobody writes.
      const content = tested.checks.find(({ id }) => id === "inferred:content");
      if (mode === "wal") expect(content?.observed).toMatchObject({ tables: 4, differing: 0 });
    }
  } finally {
    writer.kill("SIGKILL");
    await once(writer, "close");
  }
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

describe("an application's addition to SQLite", () => {
  /** By SQLite's own shell, which has a collation and a function that are not in the library. */
  function byShell(sql: string): void {
    execFileSync("sqlite3", [source.path], { input: sql });
  }

  test("does not fail the test, and the unchecked parts are named", async () => {
    byShell(`
      create table numbers (n text collate uint, long blob);
      create index numbers_n on numbers (n);
      insert into numbers values ('1', zeroblob(100000)), ('10', 'x');
      create table hashed (n text);
      create index hashed_n on hashed (sha3(n));
      insert into hashed values ('a'), ('b');
      create table keyed (n text collate uint primary key) without rowid;
      insert into keyed values ('1');
      create virtual table found using fts5 (body);
      insert into found values ('a note');
      pragma writable_schema = on;
      insert into sqlite_schema values ('table', 'near', 'near', 0, 'create virtual table near using vec0 (place)');
    `);
    const tested = await testIt(await back());
    expect(tested.reason).toBeUndefined();
    expect(tested.checks.find(({ id }) => id === "inferred:integrity")).toMatchObject({
      result: "passed",
      observed: {
        messages: 1,
        message: "ok",
        not_checked: 4,
        not_checked_names:
          "indexes of hashed (unknown function: sha3()), keyed (no such collation sequence: uint), near (no such module: vec0), indexes of numbers (no such collation sequence: uint)",
      },
    });
    const tables = tested.checks.find(({ id }) => id === "inferred:tables");
    expect(tables?.observed).toMatchObject({ tables: 5, missing: 0, not_read: 1, not_read_tables: "keyed" });
    expect(tables?.observed).not.toHaveProperty("not_counted");
    expect(notLookedAt(tested.checks)).toMatchObject({
      count: 4,
      names: expect.stringContaining("keyed (no such"),
    });
    expect(tested.checks.map(({ id }) => id)).toContain("inferred:rows:numbers");
  });

  test("is named even if the rest is whole: a virtual table whose module is missing here", async () => {
    byShell(`pragma writable_schema = on;
      insert into sqlite_schema values ('table', 'near', 'near', 0, 'create virtual table near using vec0 (place)');`);
    const tested = await testIt(await back());
    expect(tested.reason).toBeUndefined();
    expect(tested.checks[0]).toMatchObject({
      id: "inferred:integrity",
      result: "passed",
      observed: { message: "ok", not_checked: 1, not_checked_names: "near (no such module: vec0)" },
    });
  });

  test.each(["fts4 (body, tokenize=porter)", "fts5 (body, tokenize='porter')"])(
    "is named even if it is a tokenizer of full-text search: %s",
    async (search) => {
      // Only the application's own SQLite has a tokenizer of this name.
      byShell(`.dbconfig defensive off
        create virtual table found using ${search};
        insert into found values ('a note');
        pragma writable_schema = on;
        update sqlite_schema set sql = replace(sql, 'porter', 'appown') where name = 'found';`);
      const tested = await testIt(await back());
      expect(tested.reason).toBeUndefined();
      expect(String(tested.checks[0]?.observed["not_checked_names"])).toMatch(
        /^(?:indexes of )?found \((?:unknown|no such) tokenizer: appown\)$/,
      );
      expect(tested.checks.find(({ id }) => id === "inferred:content")?.observed).toMatchObject({
        differing: 0,
        not_compared: 0,
      });
    },
  );

  test("is no damage if it keeps the content of FTS4's index, or no content; what FTS4 keeps itself is looked at", async () => {
    byShell(`
      create virtual table hidden using fts4 (content='', body);
      insert into hidden (docid, body) values (1, 'a note');
      create virtual table beside using fts4 (body, content="items");
      insert into beside (docid, body) values (1, 'another note');
      create virtual table found using fts4 (content, tokenize=porter);
      insert into found values ('a note');
    `);
    const tested = await testIt(await back());
    expect(tested.reason).toBeUndefined();
    expect(tested.checks[0]?.observed).toMatchObject({
      message: "ok",
      not_checked: 2,
      not_checked_names:
        "indexes of hidden (its content is elsewhere), indexes of beside (its content is elsewhere)",
    });
    byShell(".dbconfig defensive off\nupdate found_content set c0content = 'other words'");
    const damaged = await testIt(await back());
    expect(damaged.reason).toContain("malformed inverted index for FTS4 table main.found");
  });

  test("hides no damage in what can be looked at", async () => {
    byShell(`
      create table numbers (n text collate uint, long text);
      create index numbers_n on numbers (n);
      insert into numbers values ('1', hex(zeroblob(20000)));
    `);
    const made = await back();
    for (const [from, to] of [
      ["item 2500", "jtem 2500"],
      ["uint, long", "uint, lone"],
    ] as const) {
      const bytes = readFileSync(source.path);
      bytes.write(to, bytes.indexOf(from));
      const tested = await testIt(await reseal(place, bytes), [], {
        ...made.sourceMetadata,
        plaintext_size_bytes: bytes.length,
      });
      expect(tested.result, to).toBe("failed");
    }
    // The first of the pages that a long value goes on in leads nowhere.
    const bytes = readFileSync(source.path);
    const page = Math.floor(bytes.indexOf("0".repeat(4000)) / 4096) * 4096;
    bytes.fill(0xff, page, page + 4);
    const tested = await testIt(await reseal(place, bytes), [], {
      ...made.sourceMetadata,
      plaintext_size_bytes: bytes.length,
    });
    expect(tested.reason).toContain("inferred:integrity");
  });

  test("makes the test one that could not run if nothing can be checked without it", async () => {
    byShell(`
      drop view cheap; drop table items; drop table "odd ""name";
      create table keyed (n text collate uint primary key) without rowid;
      insert into keyed values ('1');
    `);
    const made = await back();
    await expect(testIt(made)).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining("no such collation sequence: uint"),
    });
    // As of a dump that another program made: nobody knows its schema.
    const { schema_hash: _, ...foreign } = made.sourceMetadata;
    await expect(testIt(made, [], foreign)).rejects.toMatchObject({ code: "sandbox_lacks" });
    // Where the backup had no such schema, that is no lack.
    const other = await testIt(made, [], { ...made.sourceMetadata, schema_hash: "0".repeat(64) });
    expect(other).toMatchObject({ result: "failed", reason: expect.stringContaining("the schema is not") });
  });
});

describe("a database with only virtual tables", () => {
  test.each([
    ["FTS5", "create virtual table notes using fts5 (body); insert into notes values ('a note'), ('b')"],
    [
      "R-tree",
      "create virtual table notes using rtree (id, a, b); insert into notes values (1, 1, 2), (2, 3, 4)",
    ],
  ])("is backed up and tested by what they hold: %s", async (_, sql) => {
    const database = new DatabaseSync(source.path);
    database.exec(`drop view cheap; drop table items; drop table "odd ""name"; ${sql}`);
    database.close();
    const made = await back();
    expect(made.sourceMetadata).toMatchObject({ tables: [{ name: "notes", rows: 2 }] });
    const own = { id: "own", query: "select count(*) as n from notes", expect: "n = 2" };
    const tested = await testIt(made, [own]);
    expect(tested.reason).toBeUndefined();
    expect(tested.checks.map(({ id, result }) => `${id} ${result}`)).toEqual([
      "inferred:integrity passed",
      "inferred:tables passed",
      "inferred:rows:notes passed",
      "own passed",
      "inferred:schema passed",
      "inferred:content passed",
      "inferred:objects passed",
    ]);
    const emptied = new DatabaseSync(source.path);
    emptied.exec("delete from notes");
    emptied.close();
    const bytes = readFileSync(source.path);
    const bad = await testIt(await reseal(place, bytes), [], {
      ...made.sourceMetadata,
      plaintext_size_bytes: bytes.length,
    });
    expect(bad.reason).toContain("inferred:rows:notes");
  });
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
  source = { ...source, checkTimeout_s: 1 };
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
    source = { ...source, path: join(place.dir, "nowhere.sqlite") };
    await expect(back()).rejects.toMatchObject({ code: "source_missing" });
    source = { ...source, path: place.dir };
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
  source = { ...source, checkTimeout_s: 5 };
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
