import { randomBytes } from "node:crypto";
import { Binary, type Db, type Document, Long } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { flipBit, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import { type SourceMongodb, startSourceMongodb } from "./source-mongodb.ts";

/** What happens to a MongoDB database, and what notices it by default: docs/damage.md. */

const table = new DamageTable("MongoDB", "MongoDB");
const COLLECTIONS = ["steady", "halved", "emptied", "dropped", "changed"];
let place: TestPlace;
let server: SourceMongodb;
let shop: Db;
let backup: MadeBackup;
let passed: RestoreTestResult;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMongodb(place.dir);
  ({ shop } = server);
  await fill();
  backup = await back();
  passed = await testIt(backup);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const documents = (count = 100): Document[] =>
  Array.from({ length: count }, (_, n) => ({
    _id: n,
    n,
    note: `please leave parcel ${n} with the neighbours`,
    inside: { a: 1, b: 2 },
    none: null,
    bytes: new Binary(Buffer.from([n]), 0),
  }));

/** The same each time. */
async function fill(): Promise<void> {
  await shop.dropDatabase();
  for (const name of COLLECTIONS) await shop.collection(name).insertMany(documents());
  await shop.collection("changed").createIndex({ n: 1 }, { name: "by_n" });
  await shop.createCollection("log", { capped: true, size: 65_536 });
  await shop.collection("log").insertOne({ _id: 1 as never, started: true });
  await shop.createCollection("events", { capped: true, size: 65_536 });
  await shop.collection("events").insertMany(documents(3));
  await shop.collection("system.js").insertOne({ _id: "rate" as never, value: "return 1" });
  await byYears("2025", "2026");
  await shop.createCollection("far", { capped: true, size: 4096, max: (2n ** 53n) as never });
}

/** An index over fields whose names are numbers. */
async function byYears(...years: readonly string[]): Promise<void> {
  await shop
    .collection("steady")
    .createIndex(new Map(years.toReversed().map((year) => [year, 1])), { name: "by_years" });
}

const back = (): Promise<MadeBackup> => backUp(place, server.source);

const testIt = (
  made: MadeBackup,
  instead: Resealed = made,
  seen?: EarlierTests,
): Promise<RestoreTestResult> => testBackup(place, server.source, made, { instead, seen });

/** The backup with the dump of a source in which something is otherwise. */
async function onTheWay(change: () => Promise<unknown>): Promise<RestoreTestResult> {
  await fill();
  await change();
  const { sourceMetadata, ...made } = await back();
  return testIt(backup, { ...made, plaintextBytes: Number(sourceMetadata["plaintext_size_bytes"]) });
}

async function atSource(change: () => Promise<unknown>): Promise<[RestoreTestResult, MadeBackup]> {
  await fill();
  await change();
  const made = await back();
  return [await testIt(made, made, seenForDays(passed)), made];
}

test("damage at the source is noticed as the table says", async () => {
  expect(passed.reason).toBeUndefined();
  const [lost, made] = await atSource(async () => {
    await shop.collection("dropped").rename("gone");
    await shop.collection("emptied").deleteMany({});
    await shop.collection("halved").deleteMany({ n: { $gte: 50 } });
    await shop.collection("steady").deleteMany({ n: { $gte: 90 } });
    await shop.collection("changed").dropIndex("by_n");
  });
  table.noticed("a collection dropped or renamed at the source", lost, "dropped");
  table.noticed("a collection emptied at the source", lost, "inferred:rows:shop.emptied");
  table.noticed("half of a collection's documents deleted at the source", lost, "inferred:rows:shop.halved");
  table.noticed(
    "10 % of a steady collection's documents deleted at the source",
    lost,
    "inferred:rows:shop.steady",
  );
  expect(made.sourceMetadata["schema_hash"]).not.toBe(backup.sourceMetadata["schema_hash"]);
  table.says("an index dropped at the source", "reported as drift");
  const [ransom] = await atSource(async () => {
    for (const name of [...COLLECTIONS, "log"]) await shop.collection(name).drop();
    await shop.collection("READ_ME_TO_RECOVER").insertOne({ content: "pay" });
  });
  table.noticed("all collections dropped at the source, and a ransom note left", ransom, "changed");
  const [encrypted] = await atSource(async () => {
    await shop.collection("steady").deleteMany({ n: { $lt: 10 } });
    const others = documents(10).map((each) => ({ ...each, note: randomBytes(40).toString("base64") }));
    await shop.collection("steady").insertMany(others);
  });
  expect(encrypted.reason).toBeUndefined();
  expect(encrypted.profile?.suspicious).toContainEqual(
    expect.objectContaining({ table: "shop.steady", column: "note", measure: "random" }),
  );
  table.says("a tenth of a field encrypted at the source", "reported as suspicious");
});

test("damage on the way is noticed as the table says", async () => {
  const rows = await onTheWay(async () => {
    await shop.collection("dropped").drop();
    await shop.collection("emptied").deleteOne({ n: 7 });
    await shop.collection("changed").updateOne({ n: 7 }, { $set: { note: "mote 7" } });
    const [seventh] = documents().slice(7, 8);
    await shop.collection("halved").replaceOne({ n: 7 }, { ...seventh, inside: { b: 2, a: 1 } });
  });
  table.noticed("a collection lost on the way", rows, "dropped");
  table.noticed("a document lost on the way", rows, "emptied");
  table.noticed("one value changed on the way", rows, "shop.changed");
  table.noticed("the order of a document's fields changed on the way", rows, "shop.halved");
  const types = await onTheWay(async () => {
    const one = (name: string, $set: Document) => shop.collection(name).updateOne({ n: 7 }, { $set });
    await one("steady", { "inside.a": Long.fromNumber(1) });
    await one("emptied", { bytes: new Binary(Buffer.from([7]), 128) });
    await shop.collection("changed").updateOne({ n: 7 }, { $unset: { none: 1 } });
    await shop.collection("dropped").deleteOne({ _id: 7 as never });
    await shop.collection("dropped").insertOne({ ...documents()[7], _id: Long.fromNumber(7) as never });
  });
  table.noticed("a number of the same value in another type on the way", types, "shop.steady");
  table.noticed("bytes of another subtype on the way", types, "shop.emptied");
  table.noticed("a field that is null lost on the way", types, "shop.changed");
  table.noticed("an _id of another type on the way", types, "shop.dropped");
  const options = await onTheWay(async () => {
    await shop.collection("changed").dropIndex("by_n");
    await shop.collection("changed").createIndex({ n: -1 }, { name: "by_n" });
    await shop.collection("log").drop();
    await shop.createCollection("log", { capped: true, size: 131_072 });
    await shop.collection("log").insertOne({ _id: 1 as never, started: true });
    await shop.collection("steady").dropIndex("by_years");
    await byYears("2026", "2025");
  });
  table.noticed(
    "the order of an index's fields changed on the way, where their names are numbers",
    options,
    "index shop.steady by_years (other)",
  );
  table.noticed("the direction of an index changed on the way", options, "index shop.changed by_n (other)");
  table.noticed("a capped collection's size changed on the way", options, "collection shop.log (other)");
  const objects = await onTheWay(async () => {
    await shop.collection("changed").dropIndex("by_n");
    await shop.collection("log").drop();
    await shop.collection("log").insertOne({ _id: 1 as never, started: true });
    await shop.createCollection("more");
  });
  table.noticed("an index lost on the way", objects, "index shop.changed by_n (missing)");
  table.noticed("a collection's options lost on the way", objects, "collection shop.log (other)");
  table.noticed("something added on the way", objects, "collection shop.more (not at the source)");
  const apart = await onTheWay(async () => {
    await shop.collection("events").drop();
    await shop.createCollection("events", { capped: true, size: 65_536 });
    await shop.collection("events").insertMany(documents(3).toReversed());
    await shop.collection("system.js").updateOne({}, { $set: { value: "return 2" } });
  });
  const { observed } = apart.checks.find(({ id }) => id === "inferred:content") ?? {};
  expect(observed).toMatchObject({
    differing: 2,
    differing_tables: "order of capped collections, stored functions (system.js)",
  });
  table.noticed("the order of documents in a capped collection changed on the way", apart, "order");
  table.noticed("a stored function (system.js) changed on the way", apart, "stored functions");
  const functions = await onTheWay(() => shop.collection("system.js").drop());
  table.noticed("the stored functions lost on the way", functions, "collection shop.system.js (missing)");
  const other = await onTheWay(async () => {
    await shop.dropDatabase();
    await shop.collection("steady").insertMany(documents(5));
  });
  table.noticed("another database's dump in its place", other, "dropped");
});

test("bytes that are lost or other, and an honest day", async () => {
  expect(await testIt(backup, await flipBit(place, backup))).toMatchObject({ result: "failed", checks: [] });
  table.says("a bit flipped in what is stored", "refused");
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const whole = Buffer.concat(pieces);
  const cut = await reseal(place, whole.subarray(0, whole.length * 0.8));
  expect(await testIt(backup, cut)).toMatchObject({ result: "failed", checks: [] });
  table.says("the end of the archive cut off", "refused");
  const turned = await onTheWay(async () => {
    await shop.collection("steady").deleteMany({});
    await shop.collection("steady").insertMany(documents().toReversed());
  });
  expect(turned.reason).toBeUndefined();
  table.says("the documents in another order", "passes");
  const [honest] = await atSource(async () => {
    await shop.collection("steady").insertMany(documents(120).slice(100));
    await shop.collection("steady").deleteMany({ n: { $lt: 3 } });
    await shop
      .collection("changed")
      .updateMany({}, { $set: { note: "the parcel was fetched on Monday" }, $inc: { n: 1 } });
    await shop.collection("orders").insertMany(documents(3));
  });
  expect(honest.reason).toBeUndefined();
  table.says("documents added and changed, a few deleted, a new collection", "passes");
});

test("every case of the table is here", () => table.everyCaseIsHeld());
