import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import type { TestDatabase } from "../../../test/database/test-database.ts";
import { readIdentity, requireIdentity } from "./service-identity.ts";
import { loadServiceKeys } from "./service-keys.ts";

let server: TestDatabase;
let root: string;
let directory: string;
beforeAll(async () => {
  server = await openTestDatabase();
});
afterAll(() => server.close());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "keys-"));
  directory = join(root, "keys");
  await server.pool.query("delete from service_settings");
});
afterEach(() => rm(root, { recursive: true }));

test("the first start makes the keys, for the owner alone; later starts use them", async () => {
  const first = await loadServiceKeys(directory, "create");
  expect((await readdir(directory)).sort()).toEqual([
    "log-cosigning.pem",
    "log-signing.pem",
    "object-urls.key",
    "sealing.key",
  ]);
  for (const name of await readdir(directory))
    expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const again = await loadServiceKeys(directory, "refuse");
  expect(again.log.note.publicKey).toEqual(first.log.note.publicKey);
  expect(again.log.time.publicKey).toEqual(first.log.time.publicKey);
  expect(again.log.note.publicKey).not.toEqual(again.log.time.publicKey);
  expect(again.sealing.check).toBe(first.sealing.check);
  expect(again.objectUrls).toEqual(first.objectUrls);
});

test("processes that start at once agree on the keys", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => loadServiceKeys(directory, "create")));
  expect(new Set(all.map((keys) => keys.log.note.publicKey.join())).size).toBe(1);
  expect(new Set(all.map((keys) => keys.sealing.check)).size).toBe(1);
});

test("the service refuses a missing key where one was in use, a damaged one, and one that others may read", async () => {
  await expect(loadServiceKeys(directory, "refuse")).rejects.toMatchObject({ code: "key_file" });
  await loadServiceKeys(directory, "create");
  const secret = join(directory, "sealing.key");
  for (const content of [
    "",
    "AAAA\n",
    `${(await readFile(secret, "utf8")).trim()} \n`,
    `*${"A".repeat(42)}=\n`,
  ]) {
    await writeFile(secret, content);
    await expect(loadServiceKeys(directory, "create"), JSON.stringify(content)).rejects.toMatchObject({
      code: "key_file",
    });
  }
  await rm(secret);
  await writeFile(join(directory, "log-signing.pem"), "-----BEGIN PRIVATE KEY-----\n");
  await expect(loadServiceKeys(directory, "create")).rejects.toMatchObject({ code: "key_file" });
  await rm(join(directory, "log-signing.pem"));
  await loadServiceKeys(directory, "create");
  await chmod(secret, 0o644);
  await expect(loadServiceKeys(directory, "create")).rejects.toThrow("chmod 600");
});

test("the identity is written once; another log host or other keys are refused from then on", async () => {
  const keys = await loadServiceKeys(directory, "create");
  expect(await readIdentity(server.pool)).toBeNull();
  const first = await requireIdentity(server.pool, keys, { logHost: undefined, defaultLogHost: "a.example" });
  expect(first.log_host).toBe("a.example");
  expect(
    await requireIdentity(server.pool, keys, { logHost: undefined, defaultLogHost: "b.example" }),
  ).toEqual(first);
  expect(await requireIdentity(server.pool, keys, { logHost: "a.example", defaultLogHost: "c" })).toEqual(
    first,
  );
  await expect(
    requireIdentity(server.pool, keys, { logHost: "b.example", defaultLogHost: "c" }),
  ).rejects.toMatchObject({
    code: "invalid_setting",
  });
  const others = await loadServiceKeys(join(root, "others"), "create");
  const hosts = { logHost: undefined, defaultLogHost: "a.example" };
  const mixed = [
    { ...keys, log: { ...keys.log, note: others.log.note } },
    { ...keys, log: { ...keys.log, time: others.log.time } },
    { ...keys, sealing: others.sealing },
  ];
  for (const wrong of mixed) {
    await expect(requireIdentity(server.pool, wrong, hosts)).rejects.toMatchObject({ code: "key_file" });
  }
  expect(await readIdentity(server.pool)).toEqual(first);
});

test("of replicas with different keys that start at once one wins and the others refuse", async () => {
  const replicas = await Promise.all(
    [1, 2, 3, 4].map((n) => loadServiceKeys(join(root, String(n)), "create")),
  );
  const hosts = { logHost: undefined, defaultLogHost: "a.example" };
  const results = await Promise.allSettled(replicas.map((keys) => requireIdentity(server.pool, keys, hosts)));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
});
