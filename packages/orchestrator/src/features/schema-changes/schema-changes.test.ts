import fc from "fast-check";
import { expect, test } from "vitest";
import { apart, differ, otherObjectsIn } from "./other-objects.ts";
import { schemaChanges } from "./schema-changes.ts";

const table = (name: string, parts: Record<string, string>) => ({ kind: "table", name, parts });
const changes = (before: unknown, after: unknown) => schemaChanges({ summary: before }, { summary: after });
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
  expect(changes(before, after)).toEqual({
    added: ["table orders index by_total"],
    removed: ["table old"],
    altered: ["table orders column total", "view sums"],
  });
});

test("drift does not mention objects that one of the two had no room for", () => {
  const whole = summary([table("a", { "column x": "int" }), table("b", {})]);
  const cut = summary([table("a", {})], 1);
  expect(changes(whole, cut)).toEqual({ added: [], removed: ["table a column x"], altered: [] });
  expect(changes(cut, whole)).toEqual({ added: ["table a column x"], removed: [], altered: [] });
});

test("drift names triggers, functions and the like, as far as both backups name all of their kind", () => {
  const sent = (named: [kind: string, name: string][], kinds: Record<string, number>) => ({
    summary: summary([]),
    others: { sha256: "ab".repeat(32), kinds, named },
  });
  const before = sent(
    [
      ["trigger", "public.lines.a"],
      ["trigger", "public.lines.b"],
      ["function", "f()"],
    ],
    { trigger: 2, function: 1, grant: 9 },
  );
  const after = sent([["trigger", "public.lines.a"]], { trigger: 1, function: 700, grant: 8 });
  expect(schemaChanges(before, after)).toEqual({
    added: [],
    removed: ["trigger public.lines.b"],
    altered: ["function (1, now 700)", "grant (9, now 8)"],
  });
  // An agent that sends them from now on changes nothing at the source.
  expect(schemaChanges({ summary: summary([]) }, after)).toEqual({ added: [], removed: [], altered: [] });
});

test("a kind with the name of a member of every object is counted like another", () => {
  const of = (kinds: Record<string, number>) => ({
    summary: summary([]),
    others: { sha256: "ab".repeat(32), kinds, named: [] },
  });
  expect(schemaChanges(of({}), of({ constructor: 3 }))).toEqual({
    added: [],
    removed: [],
    altered: ["constructor (0, now 3)"],
  });
});

test("so are their definitions, and objects with such names", () => {
  const [one, other, all] = ["0".repeat(16), "1".repeat(16), "2".repeat(16)];
  const names = ["constructor", "toString", "__proto__"];
  const kinds = ["constructor", "__proto__", "trigger"];
  // As it comes over the wire, where `__proto__` is a member like any other.
  const of = (tags: Record<string, string>, whole: string) => {
    const record = (value: unknown): unknown => Object.fromEntries(kinds.map((kind) => [kind, value]));
    const named = kinds.flatMap((kind) => Object.entries(tags).map(([name, tag]) => [kind, name, tag]));
    const count = Object.keys(tags).length;
    const others = { sha256: "ab".repeat(32), kinds: record(count), named };
    const text = JSON.stringify({ ...others, definitions: { key: one, kinds: record(whole) } });
    return { summary: summary([]), others: JSON.parse(text) as unknown };
  };
  const same = Object.fromEntries(names.map((name) => [name, one]));
  const before = of(same, one);
  expect(schemaChanges(before, of(same, one))).toEqual({ added: [], removed: [], altered: [] });
  for (const name of names)
    expect(schemaChanges(before, of({ ...same, ...Object.fromEntries([[name, other]]) }, all))).toEqual({
      added: [],
      removed: [],
      altered: kinds.map((kind) => `${kind} ${name}`).toSorted(),
    });
  // One that had a name and has none, and a definition that is not named.
  expect(schemaChanges(before, of({}, one))?.removed).toEqual(
    kinds.flatMap((kind) => names.map((name) => `${kind} ${name}`)).toSorted(),
  );
  expect(schemaChanges(before, of(same, all))?.altered).toEqual(
    kinds.map((kind) => `${kind} (definitions)`).toSorted(),
  );
  const [was, is] = [otherObjectsIn(before.others), otherObjectsIn(of(same, all).others)];
  expect([was, is]).not.toContain(null);
  expect([differ(was!, was!), differ(was!, is!)]).toEqual([false, true]);
  // A kind that one of the two does not have at all.
  const without = otherObjectsIn({ sha256: was!.sha256, kinds: {}, definitions: was!.definitions })!;
  expect([differ(was!, without), differ(without, was!)]).toEqual([false, false]);
  expect(
    apart({ added: ["constructor a", "toString b"], removed: ["__proto__ c"], altered: [] }, was!, is!),
  ).toEqual({
    others: { added: ["constructor a"], removed: ["__proto__ c"], altered: [] },
    rest: { added: ["toString b"], removed: [], altered: [] },
  });
});

test("drift takes whatever an agent sent without failing, and compares nothing it does not know", () => {
  expect(changes(undefined, summary([]))).toBeNull();
  expect(changes(["a"], ["b"])).toBeNull();
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (any, objects) => {
      changes(any, { objects, omitted: any });
      changes({ objects, omitted: 0 }, any);
      const empty = summary([]);
      const sent = { sha256: "ab".repeat(32), kinds: { trigger: 1 }, named: objects };
      schemaChanges({ summary: empty, others: any }, { summary: empty, others: sent });
      schemaChanges({ summary: empty, others: sent }, { summary: empty, others: { ...sent, kinds: any } });
    }),
  );
});
