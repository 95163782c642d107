import fc from "fast-check";
import { expect, test } from "vitest";
import { schemaChanges } from "./schema-changes.ts";

const table = (name: string, parts: Record<string, string>) => ({ kind: "table", name, parts });
const summary = (objects: object[], omitted = 0) => ({ objects, omitted });

test("drift names the added, removed and altered objects", () => {
  const before = summary([
    table("orders", { "column id": "int", "column total": "int" }),
    table("old", {}),
    { kind: "view", name: "sums", definition: "select 1" },
  ]);
  const after = summary([
    table("orders", { "column id": "int", "column total": "numeric", "index by_total": "btree" }),
    { kind: "view", name: "sums", definition: "select 2" },
  ]);
  expect(schemaChanges(before, after)).toEqual({
    added: ["table orders index by_total"],
    removed: ["table old"],
    altered: ["table orders column total", "view sums"],
  });
});

test("drift does not mention objects that one of the two had no room for", () => {
  const whole = summary([table("a", { "column x": "int" }), table("b", {})]);
  const cut = summary([table("a", {})], 1);
  expect(schemaChanges(whole, cut)).toEqual({ added: [], removed: ["table a column x"], altered: [] });
  expect(schemaChanges(cut, whole)).toEqual({ added: ["table a column x"], removed: [], altered: [] });
});

test("drift takes whatever an agent sent without failing, and compares nothing it does not know", () => {
  expect(schemaChanges(undefined, summary([]))).toBeNull();
  expect(schemaChanges(["a"], ["b"])).toBeNull();
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (any, objects) => {
      schemaChanges(any, { objects, omitted: any });
      schemaChanges({ objects, omitted: 0 }, any);
    }),
  );
});
