import { afterAll, beforeAll, expect, test } from "vitest";
import { type ObjectSource, objectsOf, startObjectSource } from "./object-source.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** Objects in several databases and in a dump of several jobs. */

let place: TestPlace;
let source: ObjectSource;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startObjectSource(place);
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

test("objects are compared in several databases and in a dump of several jobs", async () => {
  source.server.sql(`\\connect other
    create function fickle(int) returns float8 immutable language plpgsql as 'begin return random(); end';
    create index by_chance on single (fickle(id));`);
  const made = await source.back({ databases: ["shop", "other"], jobs: 2 });
  const tested = await source.test(made);
  expect(tested.reason).toMatch(
    /^check inferred:indexes:other failed: 1 index does not fit the table: public\.by_chance\. Queries that use it give wrong rows\. .* declared immutable/,
  );
  for (const name of ["shop", "other"])
    for (const what of ["objects", "privileges"])
      expect(objectsOf(tested, `inferred:${what}:${name}`)).toMatchObject({
        result: "passed",
        observed: { differing: 0 },
      });
  // Its function is declared immutable and gives another result each time. That of by_settings
  // depends on settings, which are those of the load.
  expect(objectsOf(tested, "inferred:indexes:shop")?.observed).toEqual({
    indexes: expect.any(Number) as number,
    unfit: 0,
  });
  expect(objectsOf(tested, "inferred:indexes:other")).toMatchObject({
    result: "failed",
    observed: { indexes: 3, unfit: 1, unfit_names: "public.by_chance" },
  });
  expect(tested.result).toBe("failed");
});
