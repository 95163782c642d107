import { expect, test } from "vitest";
import type { CollectionContent } from "./archive-digests.ts";
import { APART, overflowing, tagsApart } from "./content-apart.ts";

const key = Buffer.alloc(32, 7);
const content = (collection: string, more: Partial<CollectionContent> = {}): CollectionContent => ({
  database: "shop",
  collection,
  documents: 5n,
  bytes: 500n,
  sum: "00",
  inOrder: "ab",
  ...more,
});
const capped = (bytes: bigint, documents: bigint | null = null) => ({
  namespaces: [{ database: "shop", collection: "log", isView: false, capped: { bytes, documents } }],
});

test("a capped collection of which the dump has more than it takes is known", () => {
  const isTooMany = (look: ReturnType<typeof capped>): boolean =>
    overflowing(look, [content("log")]).length > 0;
  expect(isTooMany(capped(500n))).toBe(false);
  expect(isTooMany(capped(499n))).toBe(true);
  expect(isTooMany(capped(500n, 5n))).toBe(false);
  expect(isTooMany(capped(500n, 4n))).toBe(true);
  expect(overflowing(capped(1n), [content("other")])).toEqual([]);
});

test("the order counts in capped collections only, and functions wherever they are stored", () => {
  const tags = (...collections: readonly CollectionContent[]) => tagsApart(capped(500n), collections, key);
  expect(tags(content("orders"))).toEqual(new Map());
  expect(tags(content("system.js", { database: "admin" }))).toEqual(new Map());
  const order = tags(content("log"), content("orders"));
  expect([...order.keys()]).toEqual([APART.capped_order]);
  expect(tags(content("orders", { inOrder: "cd" }), content("log"))).toEqual(order);
  expect(tags(content("log", { inOrder: "cd" }))).not.toEqual(order);
  const functions = tags(content("system.js"));
  expect([...functions.keys()]).toEqual([APART.stored_functions]);
  expect(tags(content("system.js", { inOrder: "cd" }))).toEqual(functions);
  for (const other of [{ sum: "01" }, { documents: 6n }, { database: "shop2" }])
    expect(tags(content("system.js", other))).not.toEqual(functions);
});
