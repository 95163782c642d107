import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { notLookedAt } from "@attestore/proof";
import { describe, expect, test } from "vitest";
import { reseal } from "./scratch.ts";
import { back, place, source, testIt, useShopOnSqlite } from "./shop-on-sqlite.ts";

useShopOnSqlite();

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
