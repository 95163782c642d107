import { dirname, join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MongoClient } from "mongodb";
import { leftOutKinds, leftOutText } from "../../src/engines/mongodb/left-out.ts";
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

const USERS = "users and roles of the database (only a dump of the whole server has them)";
const UNAUTHORIZED = { ok: 0, code: 13, codeName: "Unauthorized", errmsg: "not authorized" };

test("users and roles of one database, which its dump has not, are named if there are some or nobody may see them", async () => {
  const [none, some] = [
    { users: [], roles: [], ok: 1 },
    { users: [{}], roles: [{}], ok: 1 },
  ];
  const answers = answersWith();
  const hiddenIn = async (more: Readonly<Record<string, object>>, database = "shop") =>
    (await seenBy(database, { ...answers, ...more })).hidden;
  expect(await hiddenIn({ usersInfo: some })).toEqual([USERS]);
  expect(await hiddenIn({ usersInfo: none, rolesInfo: some })).toEqual([USERS]);
  expect(await hiddenIn({ usersInfo: none, rolesInfo: none })).toEqual([]);
  // The test's FerretDB lets everybody read what MongoDB has there.
  expect(await hiddenIn({ usersInfo: UNAUTHORIZED })).toEqual([]);
  const users = server.client.db("admin").collection("system.users");
  await users.insertOne({ db: "shop" });
  expect(await hiddenIn({ usersInfo: UNAUTHORIZED })).toEqual([USERS]);
  await users.drop();
  // A dump of the whole server has them.
  expect(await hiddenIn({ usersInfo: some }, "")).toEqual([HIDDEN]);
});

test("shard keys and zones, which no dump has, are named", async () => {
  const hello = {
    isWritablePrimary: true,
    msg: "isdbgrid",
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    minWireVersion: 0,
    maxWireVersion: 21,
    ok: 1,
  };
  const behind = decodeURIComponent(server.uri("").split("/")[2] ?? "");
  const socket = join(dirname(behind), "router.sock");
  const router = await limitedMongodb(socket, behind, { ...answersWith(), hello });
  const client = new MongoClient(`mongodb://${encodeURIComponent(socket)}/?directConnection=true`);
  try {
    const kinds = await leftOutKinds(client, { version: "7.0.14", database: "shop" });
    expect(kinds.map(leftOutText)).toEqual(["shard keys and zones (no dump has them)"]);
  } finally {
    await client.close();
    await router.close();
  }
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
