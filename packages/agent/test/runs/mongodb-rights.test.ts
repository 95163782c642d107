import { dirname, join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientVersions, hiddenFromBackup } from "../../src/engines/index.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { limitedMongodb } from "./limited-mongodb.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMongodb, startSourceMongodb } from "./source-mongodb.ts";

/** What a server hides from the backup's user is named. */

const never = new AbortController().signal;
let place: TestPlace;
let server: SourceMongodb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMongodb(place.dir);
  await server.shop.collection("orders").insertOne({ n: 1 });
  await server.client.db("payroll").collection("people").insertOne({ n: 1 });
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const privilege = (resource: object, ...actions: readonly string[]) => ({ resource, actions });
const OF_SHOP = privilege({ db: "shop", collection: "" }, "find", "listCollections", "listIndexes");

/** As MongoDB answers somebody who may read the database `shop`. */
const answersWith = (...privileges: readonly object[]) => ({
  buildInfo: { version: "7.0.14", maxBsonObjectSize: 16_777_216, ok: 1 },
  connectionStatus: {
    authInfo: {
      authenticatedUsers: [{ user: "backups", db: "admin" }],
      authenticatedUserRoles: [],
      authenticatedUserPrivileges: privileges,
    },
    ok: 1,
  },
  listDatabases: { databases: [{ name: "shop" }], ok: 1 },
});

interface Seen {
  readonly made: MadeBackup;
  readonly hidden: readonly string[];
  readonly warning: string | undefined;
}

function seenWith(database: string, ...privileges: readonly object[]): Promise<Seen> {
  return seenBy(database, answersWith(...privileges));
}

async function seenBy(database: string, answers: Readonly<Record<string, object>>): Promise<Seen> {
  const behind = decodeURIComponent(server.uri("").split("/")[2] ?? "");
  const socket = join(dirname(behind), "limited.sock");
  const limited = await limitedMongodb(socket, behind, answers);
  try {
    const url = `mongodb://${encodeURIComponent(socket)}/${database}`;
    const source = { ...server.source, connection: { kind: "url", url } as const };
    const made = await backUp(place, source);
    const versions = await clientVersions(source, { scratchDir: place.scratch, signal: never });
    return {
      made,
      hidden: await hiddenFromBackup(source, made.sourceMetadata),
      warning: versions?.warning?.text,
    };
  } finally {
    await limited.close();
  }
}

const HIDDEN = "databases hidden from the backup's user (grant the role backup)";

test("a user who may not list all databases: the backup, doctor and the test name what may be hidden", async () => {
  const { made, hidden, warning } = await seenWith("", OF_SHOP);
  expect(made.sourceMetadata).toMatchObject({
    databases: ["shop"],
    content: { objects: { left_out: [["unseen_database", null]] } },
  });
  expect(hidden).toEqual([HIDDEN]);
  expect(warning).toContain(`${HIDDEN}: it sees 1`);
  // Restored here in FerretDB.
  const own = await backUp(place, server.source);
  const { objects } = own.sourceMetadata["content"] as { objects: object };
  const tested = await testBackup(place, server.source, own, {
    metadata: {
      content: {
        ...(own.sourceMetadata["content"] as object),
        objects: { ...objects, left_out: [["unseen_database", null]] },
      },
    },
  });
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:objects")?.observed).toMatchObject({
    not_looked_at: 1,
    not_looked_at_objects: HIDDEN,
  });
  expect(comparedContentText(tested.checks)).toContain(`not compared: ${HIDDEN}`);
});

test("a server that does not tell what the user may do is backed up, and named", async () => {
  const connectionStatus = { ok: 0, code: 59, codeName: "CommandNotFound", errmsg: "no such command" };
  const { hidden, warning } = await seenBy("", { ...answersWith(), connectionStatus });
  expect(hidden).toEqual([HIDDEN]);
  expect(warning).toContain(HIDDEN);
});

test("a user who may, a named database, and FerretDB: nothing is named", async () => {
  const all = privilege({ cluster: true }, "listDatabases");
  for (const seen of [await seenWith("", OF_SHOP, all), await seenWith("shop", OF_SHOP)]) {
    expect(seen.made.sourceMetadata).not.toHaveProperty("content.objects.left_out");
    expect(seen).toMatchObject({ hidden: [], warning: undefined });
  }
  const source = { ...server.source, connection: { kind: "url", url: server.uri("") } as const };
  const made = await backUp(place, source);
  expect(made.sourceMetadata).toMatchObject({ databases: ["payroll", "shop"] });
  expect(made.sourceMetadata).not.toHaveProperty("content.objects.left_out");
  expect(await clientVersions(source, { scratchDir: place.scratch, signal: never })).toEqual({
    server: expect.stringMatching(/^FerretDB 1\./) as string,
    client: expect.stringMatching(/^mongodump /) as string,
  });
});
