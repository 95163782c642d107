import { expect, test } from "vitest";
import { listsAllDatabases } from "./hidden-databases.ts";

/** As MongoDB answers `{ connectionStatus: 1, showPrivileges: true }`. */
const status = (
  privileges: readonly object[],
  users: readonly object[] = [{ user: "backups", db: "admin" }],
) => ({
  authInfo: {
    authenticatedUsers: users,
    authenticatedUserRoles: [],
    authenticatedUserPrivileges: privileges,
  },
  ok: 1,
});

const READ = [
  "changeStream",
  "collStats",
  "dbHash",
  "dbStats",
  "find",
  "killCursors",
  "listCollections",
  "listIndexes",
  "planCacheRead",
];

test("a user with the right on the server lists all databases", () => {
  expect(
    listsAllDatabases(
      status([
        { resource: { cluster: true }, actions: ["appendOplogNote", "listDatabases", "serverStatus"] },
      ]),
    ),
  ).toBe(true);
  expect(
    listsAllDatabases(status([{ resource: { anyResource: true }, actions: ["listDatabases", "find"] }])),
  ).toBe(true);
  const readAny = [
    { resource: { db: "", collection: "" }, actions: READ },
    { resource: { cluster: true }, actions: ["listDatabases"] },
  ];
  expect(listsAllDatabases(status(readAny))).toBe(true);
});

test("so does everybody on a server without access control", () => {
  expect(listsAllDatabases(status([], []))).toBe(true);
});

test("a user who may only read some databases or collections does not", () => {
  expect(listsAllDatabases(status([]))).toBe(false);
  expect(listsAllDatabases(status([{ resource: { db: "shop", collection: "" }, actions: READ }]))).toBe(
    false,
  );
  expect(
    listsAllDatabases(status([{ resource: { db: "shop", collection: "orders" }, actions: ["find"] }])),
  ).toBe(false);
  expect(listsAllDatabases(status([{ resource: { db: "", collection: "" }, actions: READ }]))).toBe(false);
  expect(listsAllDatabases(status([{ resource: { cluster: true }, actions: ["serverStatus"] }]))).toBe(false);
});

test("an answer without rights rules nothing out", () => {
  for (const answer of [{}, { authInfo: {} }, { authInfo: null }, { authInfo: { authenticatedUsers: [{}] } }])
    expect(listsAllDatabases(answer)).toBe(false);
});
