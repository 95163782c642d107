import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { BSON, BSONRegExp, type Document } from "mongodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startScratchMongodb } from "../../src/engines/mongodb/scratch-mongodb.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";
import { type SourceMongodb, startSourceMongodb } from "./source-mongodb.ts";

/** Sources of MongoDB that are odd and right. None of it is the fault of a backup. */

let place: TestPlace;
let server: SourceMongodb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMongodb(place.dir);
});

beforeEach(async () => {
  await server.shop.dropDatabase();
  await server.shop.collection("orders").insertMany([{ n: 1 }, { n: 2 }]);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

async function backUpAndTest(source: SourceConfigOf<"mongodb"> = server.source) {
  const made = await backUp(place, source);
  return { made, tested: await testBackup(place, source, made) };
}

test("expressions that only MongoDB has are restored, and a check that asks for one fails by itself", async () => {
  await server.shop.collection("patterns").insertOne({ _id: 1 as never, own: new BSONRegExp("(?i)a++", "") });
  const query = (pipeline: readonly Document[]): string =>
    JSON.stringify({ collection: "patterns", pipeline });
  const { tested } = await backUpAndTest({
    ...server.source,
    checks: [
      { id: "one", query: query([{ $count: "n" }]), expect: "n = 1" },
      { id: "own", query: query([{ $project: { own: 1 } }]), expect: "own = 1" },
    ],
  });
  expect(comparedContentText(tested.checks)).toBe("content of 2 tables compared; 4 objects compared");
  expect(tested.checks.filter(({ result }) => result === "failed")).toMatchObject([
    { id: "own", observed: { error: expect.stringContaining("its field own is a document or a list") } },
  ]);
});

test("names of collections with line breaks", async () => {
  for (const name of ["a\nb", "a\rb", "a\u2028b"]) await server.shop.collection(name).insertOne({ n: 1 });
  const { tested } = await backUpAndTest();
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toBe("content of 4 tables compared; 8 objects compared");
});

test("a database whose collections were all dropped", async () => {
  const hollow = server.client.db("hollow");
  await hollow.collection("gone").insertOne({ n: 1 });
  await hollow.collection("gone").drop();
  const listed = await server.client.db("admin").admin().listDatabases();
  expect(listed.databases.map(({ name }) => name)).toContain("hollow");
  const { made, tested } = await backUpAndTest({
    ...server.source,
    connection: { kind: "url", url: server.uri("") },
  });
  expect(made.sourceMetadata).toMatchObject({ databases: ["shop"] });
  expect(tested.reason).toBeUndefined();
});

test("a capped collection that got more than it takes while it was dumped is named, and not counted", async () => {
  const log = await server.shop.createCollection("log", { capped: true, size: 65_536, max: 2 });
  // FerretDB makes room once a minute.
  for (let n = 0; n < 5; n += 1) await log.insertOne({ n });
  const { made, tested } = await backUpAndTest();
  expect(made.sourceMetadata["tables"]).toContainEqual({
    name: "shop.log",
    schema: expect.any(String) as string,
  });
  expect(made.sourceMetadata["content"]).toMatchObject({
    tables: 1,
    not_compared: {
      named: [
        { name: "shop.log", why: "capped_overflow" },
        { name: "order of capped collections", why: "capped_overflow" },
      ],
    },
  });
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain("shop.log (capped_overflow)");
});

test("a document that came twice, because somebody wrote meanwhile, is said to be that", async () => {
  const made = await backUp(place, server.source);
  const archive = execFileSync("mongodump", [`--uri=${server.uri("shop")}`, "--archive"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const one = Buffer.from(BSON.serialize((await server.shop.collection("orders").findOne()) ?? {}));
  const at = archive.indexOf(one);
  const twice = await reseal(place, Buffer.concat([archive.subarray(0, at), one, archive.subarray(at)]));
  const tested = await testBackup(place, server.source, made, { instead: twice });
  expect(tested).toMatchObject({ result: "failed", checks: [] });
  expect(tested.reason).toMatch(/two documents with the same _id .* back it up again/);
});

test("documents that their collection's validator refuses are restored", async () => {
  const made = await backUp(place, server.source);
  // FerretDB has no validators. This passes on only what MongoDB would not refuse either.
  await withProgram(
    "mongorestore",
    (real) => `case " $* " in
      *" --bypassDocumentValidation "*) exec ${real} "$@" ;;
      *) echo "Failed: (DocumentValidationFailure)" >&2; exit 1 ;;
    esac`,
    async () => expect((await testBackup(place, server.source, made)).reason).toBeUndefined(),
  );
});

test("nothing in a scratch MongoDB expires while it is tested", async () => {
  await withProgram(
    "mongod",
    () => `for each; do case $each in --setParameter=*) said="$said $each" ;; esac; done
      echo "fatal:$said" >&2; exit 1`,
    async (path) => {
      const started = startScratchMongodb(
        { path, product: "MongoDB", version: "7.0.14" },
        { scratchDir: place.scratch, signal: new AbortController().signal },
      );
      await expect(started).rejects.toThrow(/--setParameter=ttlMonitorEnabled=false/);
    },
  );
});

/** Puts a shell script before the programs in the PATH. `script` gets the path of the real one. */
async function withProgram(
  name: string,
  script: (real: string) => string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const directory = join(place.dir, `instead-${name}`);
  mkdirSync(directory);
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script(join(place.dir, "programs", name))}\n`);
  chmodSync(path, 0o755);
  const before = process.env["PATH"];
  process.env["PATH"] = [directory, before].join(delimiter);
  try {
    await use(path);
  } finally {
    process.env["PATH"] = before;
  }
}
