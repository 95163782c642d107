import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { compareObjects, expectedObjects } from "../../content/compare-objects.ts";
import { type DatabaseObject, MAX_NAMED, objectsMetadata } from "../../content/tagged-objects.ts";
import { describeObjects } from "./describe-objects.ts";
import { listedThen } from "./earlier-objects.ts";
import { MORE_KINDS, MORE_OBJECTS, valueDefinition } from "./more-objects.ts";
import { databaseObjects, OBJECTS_WORDS as words, withEarlierNames } from "./objects.ts";

const key = randomBytes(32);

const object = (kind: string, name: string, definition = "as it is"): DatabaseObject => ({
  kind,
  name,
  definition,
});

const listed = (objects: readonly DatabaseObject[] | null) => ({ objects, more: [] });

function compare(source: readonly DatabaseObject[], restored: readonly DatabaseObject[]) {
  const objects = describeObjects(listed(source), listed(source), [], key);
  const expected = expectedObjects(JSON.parse(JSON.stringify({ content: { objects } })) as never);
  if (expected === null) throw new Error("nothing to compare with");
  return compareObjects(restored, expected, key, { of: null, duration_ms: 1, words });
}

const views = Array.from({ length: MAX_NAMED + 50 }, (_, n) => object("view", `v${n}`));

test("objects that a receipt has no room to name are compared all the same", () => {
  expect(compare(views, views.toReversed())).toMatchObject({ result: "passed", observed: { differing: 0 } });
  const changed = views.map((view) => (view.name === "v249" ? { ...view, definition: "other" } : view));
  expect(compare(views, changed)).toMatchObject({
    result: "failed",
    observed: { differing: 1, differing_objects: "one of 250 of the kind view" },
  });
});

test("an unexpected kind is a difference too", () => {
  expect(compare([object("view", "v")], [object("view", "v"), object("rule", "r")])).toMatchObject({
    result: "failed",
    observed: { objects: 1, found: 2, differing_objects: "rule r (not at the source)" },
  });
});

test("an object that somebody changed during the dump is not compared", () => {
  const [before, after] = [listed([object("view", "v")]), listed([object("view", "v", "another")])];
  expect(describeObjects(before, after, [], key)).toBeNull();
  expect(describeObjects(before, before, [], key)).toMatchObject({ v: 5 });
  // Nothing is known either if the server or the dump did not tell.
  expect(describeObjects(listed(null), before, [], key)).toBeNull();
  expect(describeObjects(before, before, null, key)).toBeNull();
});

test("if only the second list was not made in time, or changed, the first is signed, and says what it lacks", () => {
  const sequence = { schema: "s", sequence: "ids", value: null, start: "7" } as const;
  const known = listed([object("view", "v"), object("sequence_value", "s.ids")]);
  for (const [before, after] of [
    [known, { ...known, more: null }],
    [{ ...known, more: null }, known],
    [known, { ...known, more: [object("range", "r")] }],
  ] as const) {
    const signed = describeObjects(before, after, [sequence], key);
    expect(signed).toMatchObject({ v: 2, total: 2 });
    expect(signed?.left_out).toContainEqual(["range", null]);
    expect(signed?.left_out).toContainEqual(["sequence_start", null]);
    expect(Object.keys(signed?.kinds ?? {})).toEqual(["view", "sequence_value"]);
  }
});

test("each kind of the second list is among those that are named without it", () => {
  const kinds = [...MORE_OBJECTS.matchAll(/(?:^|\n)\s*select '([a-z_]+)'/g)].map(([, kind = ""]) => kind);
  expect(kinds.length).toBeGreaterThan(15);
  // Of these two, the first list has others.
  const others = ["comment", "text_search"];
  expect(kinds.filter((kind) => !MORE_KINDS.includes(kind) && !others.includes(kind))).toEqual([]);
});

test("an earlier backup that lists no extensions is compared without them, also in a set without kinds", () => {
  const view = object("view", "v");
  const both = [view, object("extension", "pg_trgm")];
  for (const hasKinds of [true, false])
    for (const source of [[view], both]) {
      const objects = objectsMetadata(source, key);
      const signed = { ...objects, ...(hasKinds ? {} : { kinds: {}, named: [] }) };
      const expected = expectedObjects({ content: { objects: signed } } as never);
      if (expected === null) throw new Error("nothing to compare with");
      expect(listedThen(both, expected, key)).toEqual(source);
    }
});

test("a value has the definition that the query for the copy gives it", () => {
  const digest = "898d1890c30286031226763feed8e4dd9a13d71f4ce47ea02b492a4b307c3e2d";
  expect(databaseObjects(`["sequence_value", "s.ids", "${digest}", ""]\n`)).toEqual([
    { kind: "sequence_value", name: "s.ids", definition: valueDefinition("41") },
  ]);
});

test.each([
  ["its last value", { value: "41", start: null }, ["sequence_value"]],
  ["the one that it gives next", { value: null, start: "500" }, ["sequence_value", "sequence_start"]],
])("a sequence has the value of the dump, whatever it is at by now: %s", (_, known, kinds) => {
  const inCopy = (value: string) =>
    databaseObjects(kinds.map((kind) => `["${kind}", "s.ids", "${value}", ""]`).join("\n"));
  const atSource = listed(inCopy("x").slice(0, 1));
  const objects = describeObjects(atSource, atSource, [{ schema: "s", sequence: "ids", ...known }], key);
  const expected = expectedObjects({ content: { objects } } as never);
  if (expected === null) throw new Error("nothing to compare with");
  const context = { of: null, duration_ms: 1, words };
  const digests = [known.value ?? "", known.start ?? ""].map((each) => valueDefinition(each).trim());
  const found = inCopy("x").map((each, at) => ({ ...each, definition: `${digests[at]} ` }));
  expect(compareObjects(found, expected, key, context)).toMatchObject({ result: "passed" });
  expect(compareObjects(inCopy("x"), expected, key, context)).toMatchObject({
    result: "failed",
    observed: { differing: kinds.length },
  });
});

test("two sequences whose names have full stops are not mistaken for each other", () => {
  const sequences = [
    { schema: "a.b", sequence: "c", value: "10", start: null },
    { schema: "a", sequence: "b.c", value: "20", start: null },
  ] as const;
  const inCopy = ['"a.b"."c"', '"a"."b.c"'].map((name, at) => ({
    ...object("sequence_value", name),
    definition: valueDefinition(sequences[at]!.value),
  }));
  const atSource = listed(inCopy);
  const objects = describeObjects(atSource, atSource, sequences, key);
  const expected = expectedObjects({ content: { objects } } as never);
  if (expected === null) throw new Error("nothing to compare with");
  const context = { of: null, duration_ms: 1, words };
  expect(compareObjects(inCopy, expected, key, context)).toMatchObject({ result: "passed" });
  const exchanged = inCopy.map((each, at) => ({ ...each, definition: inCopy[1 - at]!.definition }));
  expect(compareObjects(exchanged, expected, key, context)).toMatchObject({ observed: { differing: 2 } });
});

test("earlier agents signed such names without quotes", () => {
  const names = ['"a.b"."c"', '"a"."b.""c"', "s.ids", '"a"."b"'].map((name) =>
    object("sequence_value", name),
  );
  expect(withEarlierNames([...names, object("type", '"a.b".c')]).map(({ name }) => name)).toEqual([
    "a.b.c",
    'a.b."c',
    "s.ids",
    '"a"."b"',
    '"a.b".c',
  ]);
});

test("a tester that knows only the first version finds no count, so it compares nothing", () => {
  const source = listed([object("view", "v")]);
  const objects = describeObjects(source, source, [], key);
  expect(objects).toMatchObject({ v: 5, total: 1 });
  expect(objects).not.toHaveProperty("count");
});

test("metadata that make no sense are not compared", () => {
  for (const objects of [
    undefined,
    null,
    [],
    { count: -1, sha256: "a".repeat(64) },
    { count: 1, sha256: "a" },
    { v: 2, count: 1, sha256: "a".repeat(64) },
    { v: 6, count: 1, total: 1, sha256: "a".repeat(64) },
  ])
    expect(expectedObjects({ content: { objects } } as never)).toBeNull();
  const odd = { count: 1, sha256: "a".repeat(64), kinds: { "": 1, view: null }, named: [1, ["view"], {}] };
  expect(expectedObjects({ content: { objects: odd } } as never)).toMatchObject({ count: 1 });
});
