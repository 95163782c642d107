import { expect, test } from "vitest";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { describeOthers, joinOthers, type OtherObjects, withDefinitions } from "./other-objects.ts";
import { nameInSet } from "../name-in-set.ts";

const NOTHING = { objects: [], omitted: 0 };
const functions = Array.from({ length: 3000 }, (_, n) => ["function", `public.f${n}(integer)`] as const);

test("the few triggers are named although there is no room for thousands of functions", () => {
  const objects = [...functions, ["trigger", "public.a.t"], ["trigger", "public.a.b"]] as const;
  const others = describeOthers(objects, 7, NOTHING);
  expect(others.kinds).toEqual({ function: 3000, grant: 7, trigger: 2 });
  expect(others.named.slice(0, 2)).toEqual([
    ["trigger", "public.a.b"],
    ["trigger", "public.a.t"],
  ]);
  expect(others.named.length).toBeGreaterThan(100);
  expect(Buffer.byteLength(JSON.stringify(others.named))).toBeLessThanOrEqual(12 * 1024);
  expect(describeOthers(objects.toReversed(), 7, NOTHING)).toEqual(others);
});

test("what is not named changes the digest, and a full summary leaves no room for names", () => {
  const [all, less] = [functions, functions.slice(1)].map((some) => describeOthers(some, 0, NOTHING).sha256);
  expect(all).not.toBe(less);
  expect(describeOthers(functions, 1, NOTHING).sha256).not.toBe(all);
  const full = { objects: [{ kind: "table", name: "x".repeat(48 * 1024) }], omitted: 0 };
  expect(describeOthers(functions, 1, full)).toMatchObject({
    kinds: { function: 3000, grant: 1 },
    named: [],
  });
});

test("several databases count together, and of one that is not known nothing is said", () => {
  const others = describeOthers([["trigger", "public.a.t"]], 2, NOTHING);
  const of = (more: typeof others | undefined) =>
    joinOthers(
      [
        { name: "shop", others },
        { name: "Old shop", others: more },
      ],
      nameInSet,
      NOTHING,
    );
  expect(of(others)).toMatchObject({
    kinds: { grant: 4, trigger: 2 },
    named: [
      ["trigger", '"Old shop".public.a.t'],
      ["trigger", "shop.public.a.t"],
    ],
  });
  expect(of(undefined)).toBeNull();
});

const KEY = Buffer.alloc(32, 7);
const definition = (kind: string, name: string, text: string): DatabaseObject => ({
  kind,
  name,
  definition: text,
});

function tagged(objects: readonly DatabaseObject[], key = KEY, version = "15.4"): OtherObjects {
  const others = describeOthers(
    objects.map(({ kind, name }) => [kind, name] as const),
    3,
    NOTHING,
  );
  const metadata = {
    engine: "postgresql",
    engine_version: version,
    schema_hash: "",
    schema_summary: NOTHING,
  };
  return withDefinitions({ ...metadata, other_objects: others } as never, objects, key)[
    "other_objects"
  ] as OtherObjects;
}

test("a definition has a tag, which only the key and the definition decide", () => {
  const one = [definition("trigger", "public.a.t", "on"), definition("function", "public.f()", "secret")];
  const described = tagged(one);
  expect(described.named).toEqual([
    ["function", "public.f()", expect.stringMatching(/^[0-9a-f]{16}$/)],
    ["trigger", "public.a.t", expect.stringMatching(/^[0-9a-f]{16}$/)],
  ]);
  expect(JSON.stringify(described)).not.toContain("secret");
  expect(tagged(one.toReversed())).toEqual(described);
  const off = tagged([definition("trigger", "public.a.t", "off"), one[1]!]);
  expect(off.sha256).toBe(described.sha256);
  expect(off.named[0]).toEqual(described.named[0]);
  expect(off.named[1]).not.toEqual(described.named[1]);
  expect(off.definitions?.kinds["function"]).toBe(described.definitions?.kinds["function"]);
  expect(off.definitions?.kinds["trigger"]).not.toBe(described.definitions?.kinds["trigger"]);
  expect(off.definitions?.key).toBe(described.definitions?.key);
  for (const other of [tagged(one, Buffer.alloc(32, 8)), tagged(one, KEY, "16.1")])
    for (const kind of ["trigger", "function"]) {
      expect(other.definitions?.key).not.toBe(described.definitions?.key);
      expect(other.definitions?.kinds[kind]).not.toBe(described.definitions?.kinds[kind]);
    }
});

test("the tag of a kind covers what is not named, and nothing that the schema hash has", () => {
  const many = functions.map(([kind, name]) => definition(kind, name, "same"));
  const last = definition("function", "public.f2999(integer)", "other");
  const [before, after] = [tagged(many), tagged([...many.slice(0, -1), last])];
  expect(Buffer.byteLength(JSON.stringify(before.named))).toBeLessThanOrEqual(12 * 1024);
  expect(before.named.some(([, name]) => name === last.name)).toBe(false);
  expect(after.definitions?.kinds["function"]).not.toBe(before.definitions?.kinds["function"]);
  const type = (text: string) => definition("type", "public.c", text);
  const others = describeOthers([["type", "public.c"]], 0, NOTHING);
  const metadata = { engine_version: "15", schema_summary: NOTHING, other_objects: others };
  const tagOf = (...listed: DatabaseObject[]) =>
    (withDefinitions(metadata as never, listed, KEY)["other_objects"] as OtherObjects).definitions?.kinds[
      "type"
    ];
  const mood = definition("type", "public.mood", "enum");
  expect(tagOf(type("composite"), mood)).toMatch(/^[0-9a-f]{16}$/);
  expect(tagOf(type("composite"), mood)).toBe(tagOf(type("composite")));
  expect(tagOf(type("another"), mood)).not.toBe(tagOf(type("composite"), mood));
});

test("several databases are compared by definition only if each is", () => {
  const one = tagged([definition("trigger", "public.a.t", "on")]);
  const off = tagged([definition("trigger", "public.a.t", "off")]);
  const of = (old: OtherObjects) =>
    joinOthers(
      [
        { name: "shop", others: one },
        { name: "old", others: old },
      ],
      nameInSet,
      NOTHING,
    );
  expect(of(one)?.definitions?.key).toBe(one.definitions?.key);
  expect(of(one)?.named[0]).toEqual(["trigger", "old.public.a.t", one.named[0]?.[2]]);
  expect(of(off)?.definitions?.kinds["trigger"]).not.toBe(of(one)?.definitions?.kinds["trigger"]);
  const untagged = { ...one, definitions: { key: one.definitions!.key, kinds: {} } };
  expect(of(untagged)?.definitions).toEqual(untagged.definitions);
  const { definitions: _, ...without } = one;
  expect(of(without)).not.toHaveProperty("definitions");
});

test("objects and kinds with the names of members of every object are counted and compared like others", () => {
  const members = ["constructor", "__proto__", "toString", "hasOwnProperty"];
  const objects = members.flatMap((kind) => members.map((name) => definition(kind, name, "one")));
  // As the service and a restore test read it: out of a text.
  const read = (others: OtherObjects): OtherObjects => JSON.parse(JSON.stringify(others)) as OtherObjects;
  const described = read(tagged(objects));
  expect(Object.entries(described.kinds).filter(([kind]) => kind !== "grant")).toEqual(
    members.toSorted().map((kind) => [kind, members.length]),
  );
  expect(described.named).toHaveLength(members.length ** 2);
  const kindsOf = (others: OtherObjects) => new Map(Object.entries(others.definitions?.kinds ?? {}));
  expect([...kindsOf(described).keys()].toSorted()).toEqual(members.toSorted());
  for (const [at, { kind, name }] of objects.entries()) {
    const changed = read(tagged(objects.with(at, definition(kind, name, "other"))));
    const differs = (now: string | undefined, before: string | undefined) => now !== before;
    expect(
      changed.named.filter(([, , tag], n) => differs(tag, described.named[n]?.[2])).map((each) => each[1]),
    ).toEqual([name]);
    const others = [...kindsOf(changed)].filter(([of, tag]) => differs(tag, kindsOf(described).get(of)));
    expect(others.map(([of]) => of)).toEqual([kind]);
  }
  const joined = joinOthers(
    [
      { name: "__proto__", others: described },
      { name: "constructor", others: described },
    ],
    nameInSet,
    NOTHING,
  );
  expect(new Map(Object.entries(joined?.kinds ?? {})).get("__proto__")).toBe(2 * members.length);
  expect(joined?.named).toContainEqual(["__proto__", "constructor.__proto__", expect.any(String)]);
});
