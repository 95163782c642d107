import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { expectedObjects } from "../../src/engines/content/compare-objects.ts";
import { objectsMetadata } from "../../src/engines/content/tagged-objects.ts";
import { objectsOf } from "../../src/engines/sqlite/content/objects.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { DamageTable } from "./damage-table.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";

/** What happens to the header and the schema of an SQLite file: docs/damage.md. */

const table = new DamageTable("SQLite", "An SQLite file's header and schema");
let place: TestPlace;
let source: SourceConfigOf<"sqlite">;
let backup: MadeBackup;

const SCHEMA = `
  create table typed (v); insert into typed values ('text'), (7);
  create trigger first after insert on typed begin select 1; end;
  create trigger second after insert on typed begin select 2; end;
  create table keyed (id integer primary key autoincrement, v unique); insert into keyed (v) values (1), (2);
  create table latin (v default 'cafX');`;

beforeAll(async () => {
  place = await makeTestPlace();
  const path = join(place.dir, "shop.sqlite");
  change(path, SCHEMA);
  // As an old application left it, in ISO 8859-1.
  writeFileSync(path, withLatin(path, 0xe9));
  source = { slug: "shop", engine: "sqlite", sandbox: "process", checkTimeout_s: 30, checks: [], path };
  backup = await backUp(place, source);
});

afterAll(() => place.remove());

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path, { defensive: false });
  database.exec(`pragma writable_schema = on; ${sql}`);
  database.close();
}

function withLatin(path: string, byte: number): Buffer {
  const bytes = readFileSync(path);
  bytes[bytes.indexOf("'caf") + "'caf".length] = byte;
  return bytes;
}

const testBytes = async (bytes: Buffer): Promise<RestoreTestResult> =>
  testBackup(place, source, backup, { instead: await reseal(place, bytes) });

async function testChanged(sql: string): Promise<RestoreTestResult> {
  const copy = join(place.dir, "changed.sqlite");
  copyFileSync(source.path, copy);
  change(copy, sql);
  const bytes = readFileSync(copy);
  rmSync(copy);
  return testBytes(bytes);
}

const objectsIn = ({ checks }: RestoreTestResult) => checks.find(({ id }) => id === "inferred:objects");

test("what nobody touched passes", async () => {
  const tested = await testBackup(place, source, backup);
  expect(tested.reason).toBeUndefined();
  expect(objectsIn(tested)).toMatchObject({ result: "passed", observed: { differing: 0 } });
  expect(objectsIn(tested)?.observed).not.toHaveProperty("not_looked_at");
});

test.each([
  ["the page size changed on the way", "pragma page_size = 8192; vacuum", "setting page_size (other)"],
  ["another journal mode on the way", "pragma journal_mode = wal", "setting journal_mode (other)"],
  [
    "triggers in another order on the way",
    "update sqlite_schema set rowid = rowid + 1000 where name = 'first'",
    "trigger order typed (other)",
  ],
  [
    "the text of a table that SQLite makes itself changed on the way",
    "update sqlite_schema set sql = 'CREATE TABLE sqlite_sequence(name,seq default 7)' where name = 'sqlite_sequence'",
    "table sqlite_sequence (other)",
  ],
])("%s", async (what, sql, names) => {
  table.noticed(what, await testChanged(sql), names);
});

/** Fields of the header that no statement changes by itself. */
test.each([
  ["the schema format changed on the way", 44, 3, "setting schema_format (other)"],
  ["the size of the page cache lost on the way", 48, 123, "setting default_cache_size (other)"],
  ["the reserved part of the header changed on the way", 72, 1, "setting reserved_for_expansion (other)"],
])("%s", async (what, at, value, names) => {
  const bytes = readFileSync(source.path);
  bytes.writeUInt32BE(value, at);
  table.noticed(what, await testBytes(bytes), names);
});

test("bytes that are not UTF-8 in a definition", async () => {
  const tested = await testBytes(withLatin(source.path, 0xe8));
  table.noticed("bytes that are not UTF-8 in a definition changed on the way", tested, "table latin (other)");
});

test("an earlier backup is compared as its agent listed it, and what that lacks is named", async () => {
  const database = new DatabaseSync(source.path, { readOnly: true });
  const listed = objectsOf(database, 1, source.path);
  database.close();
  const key = await openContentKey(backup.sourceMetadata, [place.identity]);
  const { content } = backup.sourceMetadata as unknown as { content: { objects: object } };
  const earlier = { content: { ...content, objects: objectsMetadata(listed, key!) } };
  const tested = await testBackup(place, source, backup, { metadata: earlier });
  expect(tested.reason).toBeUndefined();
  expect(objectsIn(tested)).toMatchObject({
    result: "passed",
    observed: {
      objects: listed.length,
      not_looked_at_objects: "page size, journal mode and other settings of the file",
    },
  });
  const lost = await testBackup(place, source, backup, {
    metadata: earlier,
    instead: await reseal(place, withoutTrigger()),
  });
  expect(objectsIn(lost)?.observed).toMatchObject({ differing_objects: "trigger first (missing)" });
});

function withoutTrigger(): Buffer {
  const copy = join(place.dir, "changed.sqlite");
  copyFileSync(source.path, copy);
  change(copy, "drop trigger first");
  return readFileSync(copy);
}

test("a tester that knows only other lists compares none, and so does one that sees a later list", async () => {
  // The versions that earlier testers know, whatever the engine.
  expect(expectedObjects(backup.sourceMetadata as never, "objects", [1, 2, 3, 4])).toBeNull();
  const { content } = backup.sourceMetadata as unknown as { content: { objects: object } };
  const later = { content: { ...content, objects: { ...content.objects, v: 6 } } };
  const tested = await testBackup(place, source, backup, { metadata: later });
  expect(tested.reason).toBeUndefined();
  expect(objectsIn(tested)).toBeUndefined();
});

test("every case of the table is here", () => table.everyCaseIsHeld());
