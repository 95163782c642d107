import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { DiskStore } from "./disk-store.ts";
import {
  type Answer,
  directory,
  getUrl,
  HMAC_KEY,
  incoming,
  KEY,
  putUrl,
  send,
  sha256,
  store,
  useServedDiskStore,
} from "../../../test/served-disk-store.ts";

useServedDiskStore();

test("a stored object is read back with its length and digest, and is a plain file named by its key", async () => {
  const bytes = randomBytes(300_000);
  const { url, headers, method } = await store.presignPut({
    key: KEY,
    sizeBytes: bytes.length,
    sha256: sha256(bytes),
    expiresInSeconds: 60,
  });
  expect((await send(method, url, bytes, headers)).status).toBe(200);
  const got = await send("GET", await getUrl());
  expect(got.status).toBe(200);
  expect(got.body.equals(bytes)).toBe(true);
  expect(got.headers["content-length"]).toBe(String(bytes.length));
  expect((await readFile(join(directory, KEY))).equals(bytes)).toBe(true);
  expect((await stat(join(directory, KEY))).mode & 0o777).toBe(0o600);
  expect(await store.head(KEY)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
  expect(await store.hash(KEY)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
  expect(await incoming()).toEqual([]);
});

test("after a restart the digest is not vouched for, and can be had by reading", async () => {
  const bytes = Buffer.from("ciphertext");
  await send("PUT", await putUrl(bytes), bytes);
  const restarted = new DiskStore({ directory, publicUrl: "http://x", hmacKey: HMAC_KEY });
  expect(await restarted.head(KEY)).toEqual({ sizeBytes: bytes.length, sha256: null });
  expect(await restarted.hash(KEY)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
});

test("the store takes an empty object, and the same PUT twice", async () => {
  const empty = Buffer.alloc(0);
  for (const _ of [1, 2]) expect((await send("PUT", await putUrl(empty), empty)).status).toBe(200);
  const got = await send("GET", await getUrl());
  expect([got.status, got.headers["content-length"], got.body.length]).toEqual([200, "0", 0]);
});

test("concurrent PUTs of one key are received one at a time, and the object is whole", async () => {
  const bytes = randomBytes(100_000);
  const url = await putUrl(bytes);
  const sent = await Promise.allSettled(Array.from({ length: 8 }, () => send("PUT", url, bytes)));
  const whole = sent.filter((one) => one.status === "fulfilled" && one.value.status === 200);
  expect(whole.length).toBeGreaterThan(0);
  expect(await store.hash(KEY)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
  expect(await incoming()).toEqual([]);
});

test("no path leads out of the store", async () => {
  await writeFile(join(directory, "..", "outside.age"), "secret").catch(() => undefined);
  await writeFile(join(directory, ".incoming", "half"), "half");
  for (const key of [
    "../outside.age",
    "%2e%2e/outside.age",
    "a/../../outside.age",
    ".incoming/half",
    "a%00",
    "a//b",
    "",
    "org_1",
  ]) {
    for (const method of ["GET", "PUT", "HEAD"]) {
      const answer = await send(method, `/objects/${key}?expires=1&signature=x`);
      expect([403, 404], `${method} ${key}`).toContain(answer.status);
    }
  }
  await expect(store.presignGet({ key: "../outside.age", expiresInSeconds: 1 })).rejects.toThrow(RangeError);
  await expect(store.head("a/../../outside.age")).rejects.toThrow(RangeError);
  await expect(store.remove("../outside.age")).rejects.toThrow(RangeError);
  await rm(join(directory, "..", "outside.age"), { force: true });
});

test("a directory or a missing file is not an object", async () => {
  await send("PUT", await putUrl(Buffer.from("x")), Buffer.from("x"));
  const signed = async (key: string): Promise<Answer> => send("GET", await getUrl(key));
  for (const key of ["org_1", "org_1/src_1", "org_2/none.age", `${KEY}/below`]) {
    expect((await signed(key)).status, key).toBe(404);
    expect(await store.head(key), key).toBeNull();
    expect(await store.hash(key), key).toBeNull();
  }
});

test("the store answers single ranges, HEAD and If-Range", async () => {
  const bytes = randomBytes(1000);
  await send("PUT", await putUrl(bytes), bytes);
  const url = await getUrl();
  const part = await send("GET", url, undefined, { range: "bytes=100-199" });
  expect([part.status, part.headers["content-range"], part.headers["content-length"]]).toEqual([
    206,
    "bytes 100-199/1000",
    "100",
  ]);
  expect(part.body.equals(bytes.subarray(100, 200))).toBe(true);
  const tail = await send("GET", url, undefined, {
    range: "bytes=-1",
    "if-range": String(part.headers.etag),
  });
  expect(tail.body.equals(bytes.subarray(999))).toBe(true);
  expect((await send("GET", url, undefined, { range: "bytes=-1", "if-range": '"other"' })).status).toBe(200);
  const beyond = await send("GET", url, undefined, { range: "bytes=1000-" });
  expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, "bytes */1000"]);
  const head = await send("HEAD", url);
  expect([
    head.status,
    head.headers["content-length"],
    head.headers["accept-ranges"],
    head.body.length,
  ]).toEqual([200, "1000", "bytes", 0]);
});

test("the store lists by prefix and deletes for good, repeatably", async () => {
  const keys = ["org_1/src_1/upl_1.age", "org_1/src_2/upl_2.age", "org_2/src_3/upl_3.age"];
  for (const key of keys) await send("PUT", await putUrl(Buffer.from(key), key), Buffer.from(key));
  const listed = async (prefix: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const object of store.list(prefix)) found.push(`${object.key} ${object.sizeBytes}`);
    return found.sort();
  };
  expect(await listed("")).toEqual(keys.map((key) => `${key} ${key.length}`));
  expect(await listed("org_1/")).toHaveLength(2);
  expect(await listed("org_9/")).toEqual([]);
  for (const _ of [1, 2]) await store.remove("org_1/src_1/upl_1.age");
  expect(await store.head("org_1/src_1/upl_1.age")).toBeNull();
  expect(await listed("org_1/")).toEqual(["org_1/src_2/upl_2.age 21"]);
});

test("an object that was read is vouched for until its file is another one", async () => {
  const path = join(directory, KEY);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "first");
  await utimes(path, 1, 1);
  expect(await store.head(KEY)).toEqual({ sizeBytes: 5, sha256: null });
  const readings = [store.hash(KEY), store.hash(KEY)];
  expect(readings[0]).toBe(readings[1]);
  const digest = { sizeBytes: 5, sha256: sha256(Buffer.from("first")) };
  expect(await Promise.all(readings)).toEqual([digest, digest]);
  expect(await store.head(KEY)).toEqual(digest);
  await writeFile(path, "other");
  expect(await store.head(KEY)).toEqual({ sizeBytes: 5, sha256: null });
});
