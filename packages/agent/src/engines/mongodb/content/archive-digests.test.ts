import { createHash, createHmac } from "node:crypto";
import { BSON, type Document } from "mongodb";
import { expect, test } from "vitest";
import { ArchiveDigests, type CollectionContent } from "./archive-digests.ts";

const key = Buffer.alloc(32, 7);
const END = Buffer.alloc(4, 0xff);
const magic = Buffer.from("6de29981", "hex");
const bson = (document: Document): Buffer => Buffer.from(BSON.serialize(document));
const block = (collection: string, documents: readonly Document[], db = "shop"): Buffer =>
  Buffer.concat([bson({ db, collection, EOF: false, CRC: 0n }), ...documents.map(bson), END]);
const last = (collection: string, db = "shop"): Buffer =>
  Buffer.concat([bson({ db, collection, EOF: true, CRC: 5n }), END]);
const prelude = Buffer.concat([
  magic,
  bson({ concurrent_collections: 4, version: "0.1" }),
  bson({ db: "shop", collection: "orders", metadata: "{}" }),
  END,
]);

const ORDERS = [{ _id: 1, note: "a" }, { _id: 2, note: "b".repeat(9000) }, {}];
const ARCHIVE = Buffer.concat([
  prelude,
  block("orders", ORDERS.slice(0, 1)),
  block("lines", [{ n: 1 }]),
  block("orders", ORDERS.slice(1)),
  last("empty"),
  last("orders"),
  last("lines"),
]);

function read(archive: Buffer, size = archive.length, own = key): CollectionContent[] | null {
  const digests = new ArchiveDigests(own);
  for (let at = 0; at < archive.length; at += size) digests.add(archive.subarray(at, at + size));
  return digests.end();
}

const sumOf = (documents: readonly Document[]): string => {
  const own = createHmac("sha256", key).update("documents").digest();
  const sums = new Uint32Array(8);
  for (const document of documents) {
    const digest = createHash("sha256").update(own).update(bson(document)).digest();
    sums.forEach((sum, at) => (sums[at] = sum + digest.readUInt32BE(at * 4)));
  }
  return [...sums].map((sum) => sum.toString(16).padStart(8, "0")).join("");
};

const inOrderOf = (documents: readonly Document[]): string => {
  const own = createHmac("sha256", key).update("documents").digest();
  const all = createHash("sha256");
  for (const document of documents)
    all.update(createHash("sha256").update(own).update(bson(document)).digest());
  return all.digest("hex");
};

const of = (collection: string, documents: readonly Document[]): CollectionContent => ({
  database: "shop",
  collection,
  documents: BigInt(documents.length),
  bytes: BigInt(documents.reduce((bytes, document) => bytes + bson(document).length, 0)),
  sum: sumOf(documents),
  inOrder: inOrderOf(documents),
});

test("each collection's documents are added up, wherever the archive's pieces begin", () => {
  for (const size of [1, 3, 4, 5, 64, 1000, ARCHIVE.length])
    expect(read(ARCHIVE, size), String(size)).toEqual([
      of("orders", ORDERS),
      of("lines", [{ n: 1 }]),
      of("empty", []),
    ]);
});

test("a sum does not depend on the order of documents; a changed, missing or doubled one counts", () => {
  const sum = (documents: readonly Document[], own = key): string | undefined =>
    read(Buffer.concat([prelude, block("orders", documents), last("orders")]), 100, own)?.[0]?.sum;
  const all = sum(ORDERS);
  expect(sum(ORDERS.toReversed())).toBe(all);
  for (const other of [ORDERS.slice(1), [...ORDERS, {}], [{ _id: 1, note: "A" }, ...ORDERS.slice(1)]])
    expect(sum(other)).not.toBe(all);
  expect(sum(ORDERS, Buffer.alloc(32, 8))).not.toBe(all);
});

test("an archive that was cut short anywhere has no digest of the missing part", () => {
  const isWhole = new Set([ARCHIVE.length]);
  for (let length = 0; length < ARCHIVE.length; length += 13)
    if (!isWhole.has(length)) {
      const cut = read(ARCHIVE.subarray(0, length), 500);
      for (const each of cut ?? [])
        expect([of("orders", ORDERS), of("lines", [{ n: 1 }]), of("empty", [])]).toContainEqual(each);
    }
  const digests = new ArchiveDigests(key);
  digests.add(ARCHIVE.subarray(0, -last("lines").length));
  expect(digests.end()).toBeNull();
  expect(digests.complete()?.map(({ collection }) => collection)).toEqual(["orders", "empty"]);
});

test("bytes that no mongodump writes give no digest", () => {
  const int = (number: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(number);
    return bytes;
  };
  for (const odd of [
    Buffer.concat([Buffer.from("no archive at all")]),
    Buffer.concat([prelude, END]),
    Buffer.concat([prelude, int(4)]),
    Buffer.concat([prelude, int(-2)]),
    Buffer.concat([prelude, int(2048), Buffer.alloc(3000)]),
    Buffer.concat([prelude, bson({ db: "shop", collection: 1, EOF: false }), END]),
    Buffer.concat([prelude, bson({ db: "shop", collection: "orders" }), END]),
    Buffer.concat([prelude, int(20), Buffer.alloc(16, 0xee), END]),
    Buffer.concat([prelude, bson({ db: "shop", collection: "orders", EOF: false, CRC: 0n }), int(17 << 20)]),
    Buffer.concat([
      prelude,
      bson({ db: "shop", collection: "orders", EOF: true, CRC: 0n }),
      bson({ n: 1 }),
      END,
    ]),
    Buffer.concat([ARCHIVE, block("orders", ORDERS)]),
    Buffer.concat([ARCHIVE, last("orders")]),
  ]) {
    const digests = new ArchiveDigests(key);
    digests.add(odd);
    digests.add(ARCHIVE);
    expect(digests.complete(), odd.toString("hex").slice(-60)).toBeNull();
  }
});
