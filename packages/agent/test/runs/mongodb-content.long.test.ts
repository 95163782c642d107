import { createHash, createHmac, randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { comparedContentText } from "@attestore/proof";
import { Binary, BSON, BSONRegExp, Double, Int32, Long, ObjectId, Timestamp } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { EarlierTests } from "../../src/checks/index.ts";
import { objectsMetadata } from "../../src/engines/content/tagged-objects.ts";
import { objectsOf } from "../../src/engines/mongodb/content/sign-documents.ts";
import { look } from "../../src/engines/mongodb/describe.ts";
import { mongodb } from "../../src/engines/mongodb/index.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { threeAlike } from "./earlier-tests-in.ts";
import { makeTestPlace, reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourceMongodb, startSourceMongodb } from "./source-mongodb.ts";

/** What came back is what went in: the content of MongoDB's collections. */

const never = new AbortController().signal;
let place: TestPlace;
let server: SourceMongodb;
let backup: MadeBackup;

/** Everything of BSON that FerretDB takes. */
const KINDS = {
  minusZero: new Double(-0),
  wholeDouble: new Double(1),
  int: new Int32(1),
  long: new Long(1),
  largest: Long.MAX_VALUE,
  tiny: 5e-324,
  tenth: 0.1,
  beforeEpoch: new Date(-1),
  late: new Date(253_402_300_799_999),
  regex: new BSONRegExp("^a|b$", "i"),
  time: new Timestamp({ t: 1, i: 2 }),
  uuid: new Binary(Buffer.alloc(16, 9), 4),
  own: new Binary(Buffer.from("a"), 128),
  noBytes: new Binary(Buffer.alloc(0)),
  nothing: null,
  list: [1, "two", { three: [3] }],
  noList: [],
  noDocument: {},
  order: { b: 1, a: 2, c: { z: 1, y: 2 } },
  text: 'line\n\ttab "quote" \\ ü€😀',
  noText: "",
  id: new ObjectId("0123456789abcdef01234567"),
  yes: true,
};

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMongodb(place.dir);
  const { shop } = server;
  await shop
    .collection("orders")
    .insertMany(Array.from({ length: 3_000 }, (_, n) => ({ n, note: `secret note ${n}` })));
  // In the room of those that are gone, and in another order than their ids.
  await shop.collection("orders").deleteMany({ n: { $lt: 500 } });
  await shop
    .collection("orders")
    .insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `z${300 - n}` as never, n: -n })));
  await shop.collection("orders").createIndex({ n: 1 }, { name: "by n" });
  await shop
    .collection("kinds")
    .insertMany(Object.entries(KINDS).map(([_id, v]) => ({ _id: _id as never, v })));
  await shop
    .collection("large")
    .insertMany(Array.from({ length: 3 }, (_, n) => ({ n, bytes: "x".repeat(4_000_000) })));
  await shop.createCollection("empty");
  await shop.collection("odd name").insertOne({ ok: true });
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (): Promise<MadeBackup> => backUp(place, server.source);

async function testIt(
  instead: Resealed = backup,
  without: readonly string[] = [],
  seen: EarlierTests | null = null,
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, server.source, backup, { instead, without, seen });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

async function plaintext(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** The same backup with a dump of a source in which something is otherwise. */
async function testOtherwise(
  change: () => Promise<unknown>,
  undo: () => Promise<unknown>,
  seen: EarlierTests | null = null,
): Promise<RestoreTestResult> {
  await change();
  try {
    const made = await back();
    return await testIt(
      { ...made, plaintextBytes: Number(made.sourceMetadata["plaintext_size_bytes"]) },
      [],
      seen,
    );
  } finally {
    await undo();
  }
}

const checkOf = (tested: RestoreTestResult, id: string) => tested.checks.find((check) => check.id === id);
const failedOf = ({ checks }: RestoreTestResult) =>
  checks.filter(({ result }) => result === "failed").map(({ id }) => id);

test("an unchanged copy passes, whatever its documents hold", async () => {
  expect(backup.sourceMetadata["content"]).toMatchObject({
    tables: 5,
    rest: null,
    not_compared: { count: 0, named: [] },
    objects: { kinds: { collection: { count: 5 }, index: { count: 6 } } },
  });
  const tested = await testIt();
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:content")).toMatchObject({
    result: "passed",
    observed: { tables: 5, differing: 0, not_compared: 0 },
  });
  expect(checkOf(tested, "inferred:objects")).toMatchObject({ result: "passed", observed: { objects: 11 } });
  expect(comparedContentText(tested.checks)).toBe("content of 5 tables compared; 11 objects compared");
});

test("one value changed, or of another type, fails the test, which names each collection and quotes no document", async () => {
  const { shop } = server;
  const orders = shop.collection("orders");
  const kinds = shop.collection<{ _id: string; v: unknown }>("kinds");
  const tested = await testOtherwise(
    async () => {
      await orders.updateOne({ n: 1000 }, { $set: { note: "secret mote 1000" } });
      await kinds.replaceOne({ _id: "int" }, { v: new Long(1) });
    },
    async () => {
      await orders.updateOne({ n: 1000 }, { $set: { note: "secret note 1000" } });
      await kinds.replaceOne({ _id: "int" }, { v: new Int32(1) });
    },
  );
  expect(failedOf(tested)).toEqual(["inferred:content"]);
  expect(checkOf(tested, "inferred:content")?.observed).toMatchObject({ tables: 5, differing: 2 });
  const names = String(checkOf(tested, "inferred:content")?.observed["differing_tables"]).split(", ");
  expect(names.toSorted()).toEqual(["shop.kinds", "shop.orders"]);
  expect(JSON.stringify(tested)).not.toMatch(/secret [nm]ote/);
});

test("a profile has counts and rates and no value, and a tenth of a field encrypted in place is suspicious", async () => {
  const { profile } = await testIt();
  const [orders, ...others] = profile?.tables ?? [];
  expect(others).toEqual([]);
  expect(profile?.left_out).toBe(4);
  expect(orders).toMatchObject({ name: "shop.orders", rows: 2_800 });
  const fields = new Map(orders?.columns.map(({ name, ...rest }) => [name, rest]));
  expect([...fields.keys()].toSorted()).toEqual(["_id", "n", "note"]);
  expect(fields.get("note")).toMatchObject({ nulls: 107, random: 0 });
  expect(JSON.stringify(profile)).not.toMatch(/secret/);

  const seen = threeAlike("shop", profile);
  const collection = server.shop.collection("orders");
  const some = { n: { $gte: 500, $lt: 750 } };
  const before = await collection.find(some).toArray();
  const replace = async (documents: typeof before): Promise<void> => {
    await collection.deleteMany(some);
    await collection.insertMany(documents);
  };
  const told = await testOtherwise(
    () => replace(before.map((each) => ({ ...each, note: randomBytes(40).toString("base64") }))),
    () => replace(before),
    seen,
  );
  expect(told.profile?.suspicious).toEqual([
    { table: "shop.orders", column: "note", measure: "random", now: expect.any(Number), before: 0 },
  ]);
});

test("the order of fields counts, the order of documents does not", async () => {
  const kinds = server.shop.collection<{ _id: string; v: unknown }>("kinds");
  const order = KINDS.order;
  const moved = await testOtherwise(
    async () => {
      await kinds.deleteOne({ _id: "int" });
      await kinds.insertOne({ _id: "int", v: new Int32(1) });
    },
    () => Promise.resolve(),
  );
  expect(moved.reason).toBeUndefined();
  const turned = await testOtherwise(
    () => kinds.replaceOne({ _id: "order" }, { v: { a: order.a, b: order.b, c: order.c } }),
    () => kinds.replaceOne({ _id: "order" }, { v: order }),
  );
  expect(failedOf(turned)).toEqual(["inferred:content"]);
});

test("an archive with a changed byte never passes", async () => {
  const bytes = await plaintext();
  bytes.write("secret mote", bytes.indexOf("secret note 2999"), "latin1");
  const tested = await testIt(await reseal(place, bytes));
  expect(tested.result).toBe("failed");
});

test("a missing or changed index, and an additional collection, fail the test, which names them", async () => {
  const { shop } = server;
  const orders = shop.collection("orders");
  const tested = await testOtherwise(
    async () => {
      await orders.dropIndex("by n");
      await shop.collection("kinds").createIndex({ v: 1 }, { name: "late" });
      await shop.createCollection("more");
    },
    async () => {
      await orders.createIndex({ n: 1 }, { name: "by n" });
      await shop.collection("kinds").dropIndex("late");
      await shop.collection("more").drop();
    },
  );
  expect(failedOf(tested)).toEqual(["inferred:schema", "inferred:objects"]);
  const differing = String(checkOf(tested, "inferred:objects")?.observed["differing_objects"]).split(", ");
  expect(differing.toSorted()).toEqual([
    "collection shop.more (not at the source)",
    "index shop.kinds late (not at the source)",
    "index shop.more _id_ (not at the source)",
    "index shop.orders by n (missing)",
  ]);
});

test("a digest can be recomputed with an identity; the metadata alone confirm no guess", async () => {
  const key = (await openContentKey(backup.sourceMetadata, [place.identity])) ?? Buffer.of();
  const document = BSON.serialize((await server.shop.collection("odd name").findOne()) ?? {});
  const own = createHmac("sha256", key).update("documents").digest();
  const sum = createHash("sha256").update(own).update(document).digest("hex");
  const tag = createHmac("sha256", key)
    .update(JSON.stringify(["shop", "odd name", "1", sum]))
    .digest("hex")
    .slice(0, 32);
  const tables = backup.sourceMetadata["tables"] as { name: string; content?: string }[];
  expect(tables.find(({ name }) => name === "shop.odd name")?.content).toBe(tag);
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain(sum);
});

test("an older backup without digests is tested as before, and its content is not called compared", async () => {
  for (const without of ["content", "content_key"]) {
    const tested = await testIt(backup, [without]);
    expect(tested.reason).toBeUndefined();
    expect(comparedContentText(tested.checks)).toBe("content not compared");
  }
});

test("a backup by an earlier agent is compared as it was then", async () => {
  const years = new Map([
    ["2026", 1],
    ["2025", 1],
  ] as const);
  await server.shop.collection("empty").createIndex(years, { name: "years" });
  const made = await back();
  const [{ earlier }, key] = await Promise.all([
    look(server.client, ["shop"]),
    openContentKey(made.sourceMetadata, [place.identity]),
  ]);
  await server.shop.collection("empty").dropIndex("years");
  const { lines, exact } = earlier;
  expect(objectsOf(lines)).not.toEqual(objectsOf(exact));
  const { content } = made.sourceMetadata as unknown as { content: object };
  const objects = objectsMetadata(objectsOf(lines), key!);
  const tested = await testBackup(place, server.source, made, {
    metadata: { content: { ...content, objects } },
  });
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:objects")).toMatchObject({ result: "passed", observed: { objects: 12 } });
});

test("if there is no time, nothing is called compared", async () => {
  const metadata = backup.sourceMetadata;
  const key = (await openContentKey(metadata, [place.identity])) ?? Buffer.of();
  const sandbox = await mongodb.findSandbox(metadata, server.source);
  const bytes = await plaintext();
  async function* once(): AsyncGenerator<Buffer, void, undefined> {
    yield await Promise.resolve(bytes);
  }
  const restored = await sandbox.restore(once(), { scratchDir: place.scratch, signal: never });
  try {
    const compared = (budget_ms: number) =>
      restored.compareContent?.({ metadata, key, budget_ms, signal: never }) ?? Promise.resolve([]);
    const ids = async (budget_ms: number) =>
      (await compared(budget_ms)).map(({ id, result }) => `${id} ${result}`);
    expect(await ids(0)).toEqual(["inferred:objects passed"]);
    expect(await ids(600_000)).toEqual(["inferred:content passed", "inferred:objects passed"]);
  } finally {
    await restored.close();
  }
});
