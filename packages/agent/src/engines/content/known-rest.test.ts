import { expect, test } from "vitest";
import type { SourceMetadata } from "../engine.ts";
import { withKnownRest } from "./known-rest.ts";

const metadata = { tables: [{ name: "a" }, { name: "b" }] } as unknown as SourceMetadata;
const tags = new Map([
  ["a", "1"],
  ["x", "2"],
  ["y", "3"],
]);

test("the tables that a receipt names are known one by one", () => {
  const notKnown = [{ name: "b", why: "no_time" as const }];
  expect(withKnownRest(metadata, tags, notKnown)).toEqual({ tags, notCompared: notKnown });
});

test("everything that a receipt does not name has one digest, so it is known as a whole or not at all", () => {
  expect(withKnownRest(metadata, tags, [{ name: "z", why: "no_time" }])).toEqual({
    tags: new Map([["a", "1"]]),
    notCompared: [
      { name: "z", why: "no_time" },
      { name: "x", why: "unnamed" },
      { name: "y", why: "unnamed" },
    ],
  });
});
