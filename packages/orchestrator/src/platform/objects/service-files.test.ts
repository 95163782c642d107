/**
 * A real S3 server is in tests/chaos/archive-on-s3.long.test.ts; the one here sends the whole
 * object, whatever was asked for.
 */
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { DiskStore } from "./disk-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { S3Store } from "./s3-store.ts";
import { startS3TestServer, type S3TestServer } from "../../../test/s3-test-server.ts";

const NAME = "archive/org_1/000-0011223344556677.json";
let directory: string;
let server: S3TestServer;
const stores: Record<string, ObjectStore> = {};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "attestore-files-"));
  // Another user gets as far as what is theirs in it.
  await chmod(directory, 0o755);
  server = await startS3TestServer({ verifiesChecksums: true });
  stores["disk"] = new DiskStore({ directory, publicUrl: "https://x", hmacKey: Buffer.alloc(32) });
  stores["S3"] = new S3Store({ ...server.settings, log: silentLogger });
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

describe.each(["disk", "S3"])("a file beside the objects on %s", (kind) => {
  const store = (): ObjectStore => {
    const found = stores[kind];
    if (found === undefined) throw new Error(`no store ${kind}`);
    return found;
  };

  test("is read in parts, and not at all where it does not exist or ends too early", async () => {
    const { files } = store();
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 251));
    expect(await files.read(NAME, { start: 0, length: 1 })).toBeNull();
    await files.write(NAME, bytes);
    expect((await files.read(NAME, { start: 0, length: 1000 }))?.equals(bytes)).toBe(true);
    expect((await files.read(NAME, { start: 300, length: 7 }))?.equals(bytes.subarray(300, 307))).toBe(true);
    expect(await files.read(NAME, { start: 994, length: 7 })).toBeNull();
    expect(await files.read(NAME, { start: 2000, length: 1 })).toBeNull();
  });

  test("is in no list, so nothing removes it as an object that nobody knows", async () => {
    await store().files.write(NAME, Buffer.from("{}"));
    for await (const { key } of store().list()) expect.unreachable(key);
  });

  test("has a name that leads nowhere else", async () => {
    for (const name of ["../x", "/x", "a//b", "a/../b", ".x"])
      await expect(async () => store().files.write(name, Buffer.from("x")), name).rejects.toThrow(RangeError);
  });
});

test("what a command of root writes on the disk belongs to the service's user", async () => {
  const objects = join(directory, "objects-of-another");
  await mkdir(objects);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(objects, 65_534, 65_534);
  const { uid } = await stat(objects);
  expect(uid === 0).toBe(false);
  const { files, notes } = new DiskStore({
    directory: objects,
    publicUrl: "https://x",
    hmacKey: Buffer.alloc(32),
  });
  await files.write(NAME, Buffer.from("{}"));
  await notes.write("quarantine/x", "{}");
  const root = join(objects, ".attestore");
  for (const path of ["", "archive", "archive/org_1", NAME, "quarantine", "quarantine/x"])
    expect((await stat(join(root, path))).uid, path).toBe(uid);
});

test("root follows no link that the service's user has put in the way", async () => {
  const objects = join(directory, "objects-with-a-link");
  const target = join(directory, "of-root");
  await mkdir(objects);
  await mkdir(target, { mode: 0o700 });
  await symlink(target, join(objects, ".attestore"));
  if (process.getuid?.() === 0) await chown(objects, 65_534, 65_534);
  else await chmod(target, 0o500);
  const before = await stat(target);
  const { files } = new DiskStore({ directory: objects, publicUrl: "https://x", hmacKey: Buffer.alloc(32) });
  await expect(files.write(NAME, Buffer.from("{}"))).rejects.toMatchObject({ code: "EACCES" });
  expect(await readdir(target)).toEqual([]);
  expect((await stat(target)).uid).toBe(before.uid);
  expect(process.geteuid?.()).toBe(process.getuid?.());
});

test("an object store that breaks off, stalls or has no bucket is away, and its file not missing", async () => {
  const away = new S3Store({ ...server.settings, bucket: "no-such-bucket", log: silentLogger });
  await stores["S3"]?.files.write(NAME, Buffer.from("{}"));
  server.failures = 3;
  expect((await stores["S3"]?.files.read(NAME, { start: 0, length: 2 }))?.toString()).toBe("{}");
  server.failures = 100;
  await expect(stores["S3"]?.files.read(NAME, { start: 0, length: 2 })).rejects.toMatchObject({
    code: "unavailable",
  });
  server.failures = 0;
  await expect(away.files.read(NAME, { start: 0, length: 2 })).rejects.toMatchObject({ code: "unavailable" });
});
