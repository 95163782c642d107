import { expect, test } from "vitest";
import { describeOthers, joinOthers } from "./other-objects.ts";
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
