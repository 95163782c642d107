import { BSON, type Document } from "mongodb";
import { expect, test } from "vitest";
import { ArchiveDigests } from "./archive-digests.ts";
import { DeclaredCollections, objectsOfCollection } from "./declared-collections.ts";

/** What an archive declares is read as the restored server lists it. */

const END = Buffer.alloc(4, 0xff);
const bson = (document: Document): Buffer => Buffer.from(BSON.serialize(document));
const declaring = (collection: string, metadata: Document | string, more: Document = {}): Buffer =>
  bson({
    db: "shop",
    collection,
    metadata: typeof metadata === "string" ? metadata : BSON.EJSON.stringify(metadata, { relaxed: false }),
    type: "collection",
    ...more,
  });
const archive = (...collections: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from("6de29981", "hex"),
    bson({ concurrent_collections: 4, version: "0.1", server_version: "7.0.0" }),
    ...collections,
    END,
    bson({ db: "shop", collection: "orders", EOF: true, CRC: 0n }),
    END,
  ]);
const read = (bytes: Buffer, piece = bytes.length) => {
  const declared = new DeclaredCollections();
  const digests = new ArchiveDigests(Buffer.alloc(32), (document) => declared.add(document));
  for (let at = 0; at < bytes.length; at += piece) digests.add(bytes.subarray(at, at + piece));
  expect(digests.end()).not.toBeNull();
  return declared.end();
};

const OPTIONS = {
  validator: { n: { $gt: 1 } },
  capped: true,
  size: 65_536,
  expireAfterSeconds: BSON.Long.fromNumber(5),
};
const INDEXES = [
  { v: 2, key: { _id: 1 }, name: "_id_" },
  { v: 2, key: { a: 1, b: -1 }, name: "by_a", unique: true, partialFilterExpression: { a: { $gt: 0.5 } } },
];

test("collections with each option and index, and views, wherever the archive's pieces begin", () => {
  const bytes = archive(
    declaring("orders", { options: OPTIONS, indexes: INDEXES, uuid: "00ff" }),
    declaring("few", { options: { viewOn: "orders", pipeline: [] } }, { type: "view" }),
    declaring("system.views", { indexes: [] }),
    declaring("users", { indexes: INDEXES }, { db: "admin" }),
  );
  const found = read(bytes);
  expect(found?.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "collection shop.orders",
    "option shop.orders validator",
    "option shop.orders capped",
    "option shop.orders size",
    "option shop.orders expireAfterSeconds",
    "index shop.orders _id_",
    "index shop.orders by_a",
    "view shop.few",
    "option shop.few viewOn",
    "option shop.few pipeline",
  ]);
  for (const piece of [1, 3, 64]) expect(read(bytes, piece)).toEqual(found);
  // As a driver has it of the server.
  const listed = { database: "shop", collection: "orders", isView: false, type: "collection" };
  const options = { ...OPTIONS, expireAfterSeconds: 5, uuid: new BSON.UUID() };
  expect(objectsOfCollection({ ...listed, options, indexes: INDEXES })).toEqual(found?.slice(0, 7));
});

test("a part that was not understood does not count as everything", () => {
  for (const odd of [
    declaring("orders", "no JSON"),
    declaring("orders", { options: [], indexes: [] }),
    declaring("orders", { indexes: [{ name: "by_n" }] }),
    declaring("orders", { indexes: 5 }),
    bson({ db: 1, collection: "orders", metadata: "{}" }),
    bson({ db: "shop", collection: "orders", metadata: 1 }),
  ])
    expect(read(archive(odd, declaring("lines", { indexes: INDEXES })))).toBeNull();
});
