import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { superJournalOf } from "../../src/engines/sqlite/super-journal.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** A transaction over several databases that a killed application left. */

let place: TestPlace;
let path: string;
let source: SourceConfigOf<"sqlite">;

beforeEach(async () => {
  place = await makeTestPlace();
  mkdirSync(join(place.dir, "app"));
  path = join(place.dir, "app", "shop.sqlite");
  const checks = [{ id: "whole", query: "select count(*) as n from t where v = 'old'", expect: "n = 5000" }];
  source = { slug: "shop", engine: "sqlite", sandbox: "process", checkTimeout_s: 30, checks, path };
  const database = new DatabaseSync(path);
  database.exec(`create table t (v); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into t select 'old' from n`);
  database.close();
});
afterEach(() => place.remove());

/** What SQLite puts at the end of each journal before it commits (its file format, chapter 3). */
function trailer(name: string): Buffer {
  const bytes = Buffer.from(name);
  const end = Buffer.alloc(16);
  end.writeUInt32BE(bytes.length, 0);
  end.writeUInt32BE(
    bytes.reduce((sum, byte) => (sum + ((byte << 24) >> 24)) >>> 0, 0),
    4,
  );
  Buffer.from("d9d505f920a163d7", "hex").copy(end, 8);
  return Buffer.concat([Buffer.alloc(4), bytes, end]);
}

/** Half of a transaction, of which some pages are in the database already. */
function leaveHalf(superJournal: string): void {
  const database = new DatabaseSync(path);
  database.exec("pragma cache_size = 2; begin; update t set v = 'new'");
  const left = [path, `${path}-journal`].map((file) => readFileSync(file));
  database.exec("rollback");
  database.close();
  writeFileSync(path, left[0]!);
  writeFileSync(`${path}-journal`, Buffer.concat([left[1]!, trailer(superJournal)]));
}

test("is undone while the file that the databases share is there", async () => {
  const shared = join(place.dir, "app", "größe.sqlite-mj0123456789");
  writeFileSync(shared, `${path}-journal\0`);
  leaveHalf(shared);
  expect(await superJournalOf(`${path}-journal`)).toBe(shared);
  const tested = await testBackup(place, source, await backUp(place, source));
  expect(tested.reason).toBeUndefined();
  expect(readFileSync(shared, "utf8")).toBe(`${path}-journal\0`);
});

test("makes no backup where that file cannot be seen, and the message names it", async () => {
  const inContainer = "/data/of/a/container/main.sqlite-mj0123456789";
  leaveHalf(inContainer);
  await expect(backUp(place, source)).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringContaining(`depends on ${inContainer}, which is not where the database is`),
  });
  expect(await place.leftovers()).toEqual([]);
});

test("counts as committed if that file would be beside the database and is not", async () => {
  leaveHalf(join(place.dir, "app", "main.sqlite-mj0123456789"));
  const made = await backUp(place, source);
  expect(made.sourceMetadata["tables"]).toMatchObject([{ name: "t" }]);
});

test("a journal without such a name has none", async () => {
  const journal = join(place.dir, "journal");
  const named = trailer("/a-mj1");
  const other = Buffer.from(named);
  other[5]! += 1;
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(600), other, named.subarray(1, -1)]) {
    writeFileSync(journal, bytes);
    expect(await superJournalOf(journal)).toBeNull();
  }
  writeFileSync(journal, named);
  expect(await superJournalOf(journal)).toBe("/a-mj1");
});
