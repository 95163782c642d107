import fc from "fast-check";
import { expect, test } from "vitest";
import { type SchemaLine, schemaSummary } from "./schema.ts";

const line = (kind: string, relation: string, name: string, definition = ""): SchemaLine => ({
  kind,
  relation,
  name,
  definition,
});

test("a table with the objects that belong to it, and other objects", () => {
  const lines = [
    line("column", "public.orders", "id", "bigint not null"),
    line("extension", "", "citext"),
    line("index", "public.orders", "late", "btree (placed_at)"),
    line("relation", "public.orders", "", "r p"),
    line("enum", "", "public.mood", '["low"]'),
  ];
  const expected = {
    objects: [
      { kind: "enum", name: "public.mood", definition: '["low"]' },
      { kind: "extension", name: "citext" },
      {
        kind: "table",
        name: "public.orders",
        definition: "r p",
        parts: { "column id": "bigint not null", "index late": "btree (placed_at)" },
      },
    ],
    omitted: 0,
  };
  expect(schemaSummary(lines)).toEqual(expected);
  expect(schemaSummary(lines.toReversed())).toEqual(expected);
});

test("a change beyond the end of the shown part still shows", () => {
  const summary = (end: string): unknown =>
    schemaSummary([line("view", "v", "", `${"x".repeat(5_000)}${end}`)]);
  expect(summary("a")).not.toEqual(summary("b"));
  expect(JSON.stringify(summary("a")).length).toBeLessThan(400);
});

test("the summary is bounded for any schema, names the parts that it leaves out, and is JSON", () => {
  const many = Array.from({ length: 3_000 }, (_, index) => line("column", `t${index}`, "c", "int"));
  const summary = schemaSummary(many);
  expect(summary.objects.length + summary.omitted).toBe(3_000);
  expect(summary.omitted).toBeGreaterThan(0);
  expect(JSON.stringify(summary).length).toBeLessThan(49_500);
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          kind: fc.string(),
          relation: fc.string(),
          name: fc.string(),
          definition: fc.string({ unit: "binary" }),
        }),
      ),
      (lines) => {
        const made = schemaSummary(lines);
        expect(JSON.parse(JSON.stringify(made))).toEqual(made);
        expect(schemaSummary(lines.toReversed()).objects.length).toBe(made.objects.length);
      },
    ),
  );
});
