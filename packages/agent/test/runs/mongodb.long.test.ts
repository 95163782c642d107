import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Binary, Decimal128, Int32, Long, ObjectId } from "mongodb";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import type { EarlierTests } from "../../src/checks/index.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { dumpsIn } from "./dumps-in.ts";
import { keptAll, seenIn, seenTables } from "./earlier-tests-in.ts";
import { childrenNamed, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import { type SourceMongodb, startSourceMongodb } from "./source-mongodb.ts";

/** MongoDB's own tools against FerretDB: a MongoDB server can't be had here. */

const never = new AbortController().signal;
const ORDERS = 2_000;

let place: TestPlace;
let server: SourceMongodb;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMongodb(place.dir);
  const { shop, client } = server;
  await shop.collection("orders").insertMany(
    Array.from({ length: ORDERS }, (_, n) => ({
      n: new Int32(n),
      cents: Long.fromBigInt(9_007_199_254_740_993n + BigInt(n)),
      weight: n / 8,
      paid: n % 2 === 0,
      placed_at: new Date(Date.UTC(2026, 0, 1) + n * 1000),
      photo: new Binary(Buffer.from("00ff0d0a", "hex")),
      note: `secret note ${n} "\n\t\\ ü€😀`,
      lines: [{ sku: "a", count: 2 }],
    })),
  );
  await shop.collection("orders").createIndex({ paid: 1, n: -1 }, { name: "by paid" });
  await shop.collection("odd name (3 documents)").insertMany([{ a: 1 }, { a: 2 }]);
  await shop.createCollection("empty");
  await client.db("billing").collection("invoices").insertOne({ total: 12.5 });
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function back(more: Partial<SourceConfigOf<"mongodb">> = {}, signal = never): Promise<MadeBackup> {
  return backUp(place, { ...server.source, ...more }, signal);
}

function testIt(
  checks: readonly CheckConfig[] = [],
  more: {
    made?: Resealed;
    metadata?: Record<string, unknown>;
    seen?: EarlierTests;
    timeout_s?: number;
  } = {},
): Promise<RestoreTestResult> {
  const made = more.made ?? backup;
  return testBackup(place, { ...server.source, checks, checkTimeout_s: more.timeout_s ?? 60 }, backup, {
    instead: made,
    metadata: more.metadata,
    seen: more.seen,
  });
}

const nothingLeft = (): void => {
  expect(readdirSync(place.scratch)).toEqual([]);
  for (const name of ["mongodump", "mongorestore"]) expect(childrenNamed(name), name).toEqual([]);
};

const query = (collection: string, pipeline: unknown[], database?: string): string =>
  JSON.stringify({ ...(database === undefined ? {} : { database }), collection, pipeline });

test("the metadata describe the dump and contain no document", () => {
  expect(backup.sourceMetadata).toMatchObject({
    engine: "mongodb",
    engine_version: "1.24.2-FerretDB",
    dump_format: "mongodump-archive",
    schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    databases: ["shop"],
    table_count: 3,
  });
  const tables = backup.sourceMetadata["tables"] as { name: string; rows: number }[];
  expect(Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))).toEqual({
    "shop.orders": ORDERS,
    "shop.odd name (3 documents)": 2,
    "shop.empty": 0,
  });
  expect(backup.sourceMetadata["schema_summary"]).toMatchObject({
    objects: expect.arrayContaining([
      {
        kind: "collection",
        name: "shop.orders",
        parts: { "index _id_": `{"_id":1}`, "index by paid": `{"paid":1,"n":-1}` },
      },
    ]),
  });
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain("secret note");
});

test("a restore test passes if the indexes and every count are the same; checks read every kind of value", async () => {
  const first = [{ $match: { n: 3 } }, { $project: { lines: 0, _id: 0 } }];
  const tested = await testIt([
    {
      id: "count",
      query: query("orders", [{ $match: { paid: true } }, { $count: "n" }]),
      expect: "n = 1000",
    },
    {
      id: "values",
      query: query("orders", first),
      expect: "n = 3 and cents = 9007199254740996 and weight = 0.375 and not paid",
    },
    { id: "text", query: query("orders", first), expect: `note = 'secret note 3 "\n\t\\ ü€😀'` },
    { id: "bytes", query: query("orders", first), expect: String.raw`photo = '\x00ff0d0a'` },
    { id: "time", query: query("orders", first), expect: "placed_at = '2026-01-01T00:00:03.000Z'" },
    {
      id: "written-time",
      query: query("orders", [
        { $match: { placed_at: { $gte: { $date: "2026-01-01T00:33:00Z" } } } },
        { $count: "n" },
      ]),
      expect: "n = 20",
    },
    {
      id: "command",
      command: ["/bin/sh", "-c", `printf '{"scheme": "%s"}' "\${ATTESTORE_RESTORED%%:*}"`],
      expect: "scheme = 'mongodb'",
    },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({
    result: "passed",
    runtime: { kind: "process", engine: "mongodb", engine_version: "1.24.2-FerretDB" },
  });
  expect(tested.checks.map(({ id, result }) => `${id} ${result}`).toSorted()).toEqual([
    "bytes passed",
    "command passed",
    "count passed",
    "inferred:content passed",
    "inferred:kinds passed",
    "inferred:objects passed",
    "inferred:rows:shop.empty passed",
    "inferred:rows:shop.odd name (3 documents) passed",
    "inferred:rows:shop.orders passed",
    "inferred:schema passed",
    "inferred:tables passed",
    "text passed",
    "time passed",
    "values passed",
    "written-time passed",
  ]);
  nothingLeft();
});

test("a whole server is backed up and restored at once", async () => {
  process.env["TEST_OTHER_MONGODB_URI"] = server.uri("");
  const made = await back({ connection: { kind: "env", name: "TEST_OTHER_MONGODB_URI" } });
  expect(made.sourceMetadata["databases"]).toEqual(["billing", "shop"]);
  const invoices: CheckConfig = {
    id: "invoices",
    query: query("invoices", [{ $project: { total: 1, _id: 0 } }], "billing"),
    expect: "total = 12.5",
  };
  const tested = await testIt([invoices], { made, metadata: made.sourceMetadata, seen: seenTables(made) });
  expect(tested.reason).toBeUndefined();
  expect(tested.checks).toContainEqual(keptAll(4));
  expect(tested.result).toBe("passed");
});

test("checks fail: no document, several, no collection, a mistake, a document as a value, an attempt to write", async () => {
  const check = (id: string, text: string, expectation = "n >= 0"): CheckConfig => ({
    id,
    query: text,
    expect: expectation,
  });
  const tested = await testIt([
    check("none", query("orders", [{ $match: { n: -1 } }])),
    check("several", query("orders", [{ $project: { n: 1 } }])),
    check("no-collection", query("nowhere", [{ $count: "n" }])),
    check("no-database", query("orders", [{ $count: "n" }], "admin")),
    check("mistake", query("orders", [{ $nothing: 1 }])),
    check("no-json", "db.orders.count()"),
    check("list", query("orders", [{ $match: { n: 3 } }, { $project: { n: 1, lines: 1 } }])),
    check("writes", query("orders", [{ $match: {} }, { $out: "copy" }])),
    check("wrong", query("orders", [{ $count: "n" }]), "n = 1"),
    check("holds", query("orders", [{ $count: "n" }]), `n = ${ORDERS}`),
  ]);
  expect(tested.result).toBe("failed");
  const passed = tested.checks.filter(({ id, result }) => !id.startsWith("inferred:") && result === "passed");
  expect(passed.map(({ id }) => id)).toEqual(["holds"]);
  nothingLeft();
});

test("each check is tried on ruined documents, and the copy stays as it was", async () => {
  const since = [{ $match: { placed_at: { $gt: { $date: "2026-01-01T00:00:00Z" } } } }, { $count: "n" }];
  const newest = [{ $sort: { placed_at: -1 } }, { $limit: 1 }, { $project: { placed_at: 1, _id: 0 } }];
  const tested = await testIt([
    { id: "since", query: query("orders", since), expect: "n = 1999" },
    { id: "newest", query: query("orders", newest), expect: "placed_at is not null" },
    {
      id: "deep",
      query: query("orders", [{ $match: { "lines.sku": "a" } }, { $count: "n" }]),
      expect: "n = 2000",
    },
    {
      id: "any",
      query: query("orders", [{ $limit: 1 }, { $project: { paid: 1, nowhere: 1, _id: 0 } }]),
      expect: "paid or not paid or paid is null",
    },
    { id: "whole", query: query("orders", [{ $count: "n" }]), expect: `n = ${ORDERS}` },
  ]);
  expect(tested.reason).toBeUndefined();
  const controls = tested.checks.flatMap(({ id, negative_control }) => {
    if (negative_control === undefined) return [];
    const { at: _, ...ways } = negative_control;
    return [[id, ways] as const];
  });
  expect(Object.fromEntries(controls)).toEqual({
    since: {
      noticed: [
        "an empty shop.orders",
        "shop.orders.placed_at null in every document",
        "shop.orders.placed_at a year before its newest",
      ],
      not_noticed: [],
      not_tried: [],
    },
    newest: {
      noticed: ["an empty shop.orders", "shop.orders.placed_at null in every document"],
      not_noticed: ["shop.orders.placed_at a year before its newest"],
      not_tried: [],
    },
    deep: {
      noticed: ["an empty shop.orders"],
      not_noticed: [],
      // FerretDB changes no field of documents in a list.
      not_tried: ["shop.orders.lines.sku null in every document: the server did not change all"],
    },
    any: {
      noticed: ["an empty shop.orders"],
      not_noticed: ["shop.orders.paid null in every document"],
      not_tried: [],
    },
    whole: { noticed: ["an empty shop.orders"], not_noticed: [], not_tried: [] },
  });
});

describe("damage", () => {
  async function plaintext(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
      pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  }
  const resealed = (bytes: Buffer): Promise<Resealed> => reseal(place, bytes);

  test.each([
    ["truncated", (bytes: Buffer) => bytes.subarray(0, -100)],
    ["flipped", (bytes: Buffer) => bytes.fill((bytes.at(2_000) ?? 0) ^ 1, 2_000, 2_001)],
  ])("a ciphertext that is %s, under the recorded digest and under its own", async (_, change) => {
    const bytes = change(readFileSync(backup.path));
    const path = join(place.dir, "damaged.age");
    await writeFile(path, bytes);
    for (const sha256 of [backup.sha256, createHash("sha256").update(bytes).digest("hex")])
      expect(await testIt([], { made: { path, sha256 } })).toMatchObject({ result: "failed", checks: [] });
    nothingLeft();
  });

  test("an archive that was cut short anywhere never passes", async () => {
    const bytes = await plaintext();
    const cuts = [0, 3, 40, 900, bytes.length >> 2, bytes.length >> 1, bytes.length - 60, bytes.length - 4];
    for (const cut of cuts) {
      const tested = await testIt([], { made: await resealed(bytes.subarray(0, cut)) });
      expect([cut, tested.result]).toEqual([cut, "failed"]);
      expect(JSON.stringify(tested)).not.toContain("secret note");
    }
    nothingLeft();
  });

  test("a damaged archive never passes", async () => {
    const bytes = await plaintext();
    // The length of the first document's first field name, and of a document.
    const at = bytes.indexOf("weight");
    const made = await resealed(Buffer.concat([bytes.subarray(0, at - 60), bytes.subarray(at)]));
    const tested = await testIt([], { made });
    expect(tested.result).toBe("failed");
    expect(JSON.stringify(tested)).not.toContain("secret note");
  });

  test("a collection that is missing, emptied, or short of one document", async () => {
    const { shop } = server;
    const orders = await shop.collection("orders").find().toArray();
    const restoredFrom = async (change: () => Promise<unknown>): Promise<RestoreTestResult> => {
      await change();
      const made = await back();
      return testIt([], {
        made: { ...made, plaintextBytes: Number(made.sourceMetadata["plaintext_size_bytes"]) },
      });
    };
    const failed = ({ checks }: RestoreTestResult): string[] =>
      checks.filter(({ result }) => result === "failed").map(({ id }) => id);
    try {
      const [one = { _id: new ObjectId() }] = orders;
      expect(failed(await restoredFrom(() => shop.collection("orders").deleteOne({ _id: one._id })))).toEqual(
        ["inferred:rows:shop.orders", "inferred:content"],
      );
      expect(failed(await restoredFrom(() => shop.collection("orders").deleteMany({})))).toEqual([
        "inferred:rows:shop.orders",
        "inferred:content",
      ]);
      expect(failed(await restoredFrom(() => shop.collection("orders").drop()))).toEqual([
        "inferred:tables",
        "inferred:schema",
        "inferred:objects",
      ]);
    } finally {
      await shop
        .collection("orders")
        .drop()
        .catch(() => undefined);
      await shop.collection("orders").insertMany(orders);
      await shop.collection("orders").createIndex({ paid: 1, n: -1 }, { name: "by paid" });
    }
  });

  test("an archive whose names lead out of the place writes nothing there", async () => {
    const bytes = await plaintext();
    for (const name of ["../s", "/a/b", ".\0sh"]) {
      const other = Buffer.from(bytes.toString("latin1").replaceAll("shop", name), "latin1");
      const tested = await testIt([], { made: await resealed(other) }).then(
        ({ result }) => result,
        (error: { code: string }) => error.code,
      );
      expect([name, tested]).toEqual([name, "failed"]);
    }
    expect((await place.leftovers()).filter((path) => /sqlite/.test(path))).toEqual([]);
    nothingLeft();
  });

  test("code in an archive or in a check does not run", async () => {
    const { shop } = server;
    await shop.collection("systemXjs").insertOne({ value: "function () { sleep(100000); }" });
    try {
      const made = await back();
      const pieces: Buffer[] = [];
      for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
        pieces.push(Buffer.from(piece));
      const bytes = Buffer.concat(pieces).toString("latin1").replaceAll("systemXjs", "system.js");
      const endless = "function () { while (true); }";
      const tested = await testIt(
        [
          { id: "where", query: query("orders", [{ $match: { $where: endless } }]), expect: "n >= 0" },
          {
            id: "function",
            query: query("orders", [
              { $project: { n: { $function: { body: endless, args: [], lang: "js" } } } },
            ]),
            expect: "n >= 0",
          },
          {
            id: "accumulator",
            query: query("orders", [
              {
                $facet: {
                  in: [{ $group: { _id: null, n: { $accumulator: { init: endless, lang: "js" } } } }],
                },
              },
            ]),
            expect: "n >= 0",
          },
        ],
        { made: await resealed(Buffer.from(bytes, "latin1")), timeout_s: 20 },
      );
      expect(tested.result).toBe("failed");
      const failed = tested.checks.filter(({ result }) => result === "failed");
      expect(failed.map(({ id }) => id)).toEqual(["where", "function", "accumulator", "inferred:objects"]);
      expect(failed.at(-1)?.observed["differing_objects"]).toBe(
        "collection shop.system.js (not at the source)",
      );
      for (const { observed } of failed.slice(0, 3))
        expect(observed["error"]).toMatch(
          /runs no code: its pipeline cannot have \$(?:where|function|accumulator)/,
        );
    } finally {
      await shop.collection("systemXjs").drop();
    }
    nothingLeft();
  });

  test("a sandbox that is too old or another product could not run the test", async () => {
    await expect(testIt([], { metadata: { engine_version: "99.1.0-FerretDB" } })).rejects.toMatchObject({
      code: "tool_too_old",
    });
    await expect(testIt([], { metadata: { engine_version: "8.0.4" } })).rejects.toMatchObject({
      code: "tool_missing",
      message: expect.stringContaining("mongod"),
    });
    nothingLeft();
  });
});

test("an archive that others made, also gzipped, is proven where it is", async () => {
  const directory = join(place.dir, "archives");
  mkdirSync(directory);
  const path = join(directory, "shop.archive.gz");
  execFileSync("mongodump", [`--uri=${server.uri("shop")}`, `--archive=${path}`, "--gzip"], {
    stdio: "ignore",
  });
  const checks = [{ id: "count", query: query("orders", [{ $count: "n" }]), expect: `n = ${ORDERS}` }];
  const source = dumpsIn(directory, { pattern: "*.gz", checks });
  const common = { source, signal: never };
  const made = await writeEncryptedDump({ ...common, recipients: [place.recipient], blobsDir: place.blobs });
  expect(made.sourceMetadata["original"]).toMatchObject({ format: "mongodump-archive", compression: "gzip" });
  const restored = {
    ...common,
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: made.sourceMetadata,
  };
  const tested = await restoreAndCheck(restored);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(comparedContentText(tested.checks)).toBe("content of 3 tables compared; 7 objects compared");
  const kinds = tested.checks.find(({ id }) => id === "inferred:kinds");
  expect(kinds).toMatchObject({ result: "passed", observed: { indexes: expect.any(Number) } });
  const more = { ...kinds, id: "inferred:kinds", observed: { indexes: 100 } };
  const fewer = await restoreAndCheck({ ...restored, seen: seenIn([more]) });
  expect(fewer.reason).toMatch(/indexes \d+ of 100/);
  writeFileSync(path, readFileSync(path).subarray(0, -2000));
  expect(await restoreAndCheck(restored)).toMatchObject({ result: "failed", checks: [] });
  nothingLeft();
});

describe("a dump that fails leaves nothing", () => {
  test.each([
    [
      "no server",
      "mongodb://root:hush-hush@127.0.0.1:1/shop?serverSelectionTimeoutMS=500",
      "connection_failed",
    ],
    ["no database", "gone", "source_missing"],
    ["no URI", "postgresql://root:hush-hush@localhost/shop", "connection_reference"],
    [
      "an option that no driver has",
      "mongodb://root:hush-hush@localhost/shop?noSuchOption=1",
      "connection_reference",
    ],
  ])("%s", async (_, uri, code) => {
    process.env["TEST_OTHER_MONGODB_URI"] = uri === "gone" ? server.uri("gone") : uri;
    const before = readdirSync(place.blobs);
    const error: unknown = await back({ connection: { kind: "env", name: "TEST_OTHER_MONGODB_URI" } }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toContain("hush-hush");
    expect(readdirSync(place.blobs)).toEqual(before);
    nothingLeft();
  });

  test("interrupted", async () => {
    const controller = new AbortController();
    const before = readdirSync(place.blobs);
    const running = back({}, controller.signal);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "interrupted" });
    expect(readdirSync(place.blobs)).toEqual(before);
    nothingLeft();
  });
});

test("the schema's hash follows the indexes, not the documents", async () => {
  const { shop } = server;
  const hash = async (): Promise<string> => (await back()).sourceMetadata.schema_hash;
  const before = await hash();
  const _id = new ObjectId();
  await shop.collection("orders").insertOne({ _id, total: new Decimal128("1.10").toString() });
  expect(await hash()).toBe(before);
  await shop.collection("orders").deleteOne({ _id });
  await shop.collection("orders").createIndex({ note: 1 }, { name: "late" });
  expect(await hash()).not.toBe(before);
  await shop.collection("orders").dropIndex("late");
  expect(await hash()).toBe(before);
});
