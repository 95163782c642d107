import fc from "fast-check";
import { expect, test } from "vitest";
import { diffSchemas } from "./schema-diff.ts";

const table = (name: string, parts: Record<string, string>) => ({ kind: "table", name, parts });
const summary = (objects: object[], omitted = 0) => ({ objects, omitted });

test("a diff of schemas shows tables and columns that were added, removed or altered", () => {
  const before = summary([
    table("old", { "column id": "int" }),
    table("orders", { "column id": "int", "column total": "int", "index by_id": "btree" }),
    table("same", { "column id": "int" }),
    { kind: "view", name: "sums", definition: "select 1" },
  ]);
  const after = summary([
    table("fresh", { "column id": "uuid" }),
    table("orders", { "column id": "int", "column note": "text", "column total": "numeric" }),
    table("same", { "column id": "int" }),
    { kind: "view", name: "sums", definition: "select 2" },
  ]);
  expect(diffSchemas(before, after)).toEqual({
    isIncomplete: false,
    objects: [
      { title: "table fresh", mark: "added", lines: [{ mark: "added", name: "column id", after: "uuid" }] },
      { title: "table old", mark: "removed", lines: [{ mark: "removed", name: "column id", before: "int" }] },
      {
        title: "table orders",
        mark: "altered",
        lines: [
          { mark: "added", name: "column note", after: "text" },
          { mark: "altered", name: "column total", before: "int", after: "numeric" },
          { mark: "removed", name: "index by_id", before: "btree" },
        ],
      },
      {
        title: "view sums",
        mark: "altered",
        lines: [{ mark: "altered", name: "", before: "select 1", after: "select 2" }],
      },
    ],
  });
});

test("a truncated summary makes the diff incomplete, and objects left out are not called removed", () => {
  const whole = summary([table("a", {}), table("b", {})]);
  const cut = summary([table("a", { "column x": "int" })], 1);
  expect(diffSchemas(whole, cut)).toMatchObject({ isIncomplete: true, objects: [{ title: "table a" }] });
});

test("malformed summaries do not throw, and equal ones have no diff", () => {
  expect(diffSchemas(undefined, summary([]))).toBeNull();
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (any, objects) => {
      diffSchemas(any, { objects, omitted: any });
      diffSchemas({ objects, omitted: 0 }, any);
      expect(diffSchemas({ objects, omitted: 0 }, { objects, omitted: 0 })?.objects ?? []).toEqual([]);
    }),
  );
});
