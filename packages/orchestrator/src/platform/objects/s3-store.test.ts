import { createHash, randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { partSizes } from "./part-sizes.ts";
import { presignS3 } from "./s3-presign.ts";
import { S3Store } from "./s3-store.ts";
import { startS3TestServer } from "../../../test/s3-test-server.ts";
import type { S3TestServer } from "../../../test/s3-test-server.ts";

const KEY = "org_1/src_1/upl_1.age";
const MIB = 1024 * 1024;

let server: S3TestServer;
let store: S3Store;
beforeEach(async () => {
  server = await startS3TestServer({ verifiesChecksums: true });
  store = new S3Store({ ...server.settings, log: silentLogger });
});
afterEach(() => server.close());

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function send(
  method: string,
  url: string,
  body?: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  // fetch sets the length of the body itself.
  const { "content-length": _length, ...others } = headers;
  return fetch(url, body === undefined ? { method, headers: others } : { method, headers: others, body });
}

async function begin(sizeBytes: number) {
  const uploadId = await store.multipart.create({ key: KEY });
  const partBytes = store.multipart.partBytesFor(sizeBytes) ?? 0;
  const request = { key: KEY, uploadId, sizeBytes, partBytes, expiresInSeconds: 60 };
  return { uploadId, ...(await store.multipart.presignParts(request)) };
}

test("the example of Amazon's documentation: a presigned GET has their signature", async () => {
  const settings = {
    endpoint: "https://s3.amazonaws.com",
    region: "us-east-1",
    bucket: "examplebucket",
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    pathStyle: false,
  };
  const url = new URL(
    await presignS3(settings, { method: "GET", key: "test.txt" }, 86_400, new Date("2013-05-24T00:00:00Z")),
  );
  expect(url.host).toBe("examplebucket.s3.amazonaws.com");
  expect(url.searchParams.get("X-Amz-SignedHeaders")).toBe("host");
  expect(url.searchParams.get("X-Amz-Signature")).toBe(
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  );
});

test("length and checksum are signed headers, not parameters of the query", async () => {
  const { url, headers } = await store.presignPut({
    key: KEY,
    sizeBytes: 5,
    sha256: sha256(Buffer.from("bytes")),
    expiresInSeconds: 900,
  });
  const query = new URL(url).searchParams;
  expect(query.get("X-Amz-SignedHeaders")).toBe("content-length;host;x-amz-checksum-sha256");
  expect([...query.keys()].map((name) => name.toLowerCase())).not.toContain("x-amz-checksum-sha256");
  expect(query.get("X-Amz-Expires")).toBe("900");
  expect(headers).toEqual({
    "content-length": "5",
    "x-amz-checksum-sha256": createHash("sha256").update("bytes").digest("base64"),
  });
});

test("put, head, hash, get, list, delete", async () => {
  const bytes = randomBytes(1000);
  const put = await store.presignPut({
    key: KEY,
    sizeBytes: bytes.length,
    sha256: sha256(bytes),
    expiresInSeconds: 60,
  });
  expect((await send("PUT", put.url, bytes, put.headers)).status).toBe(200);
  expect(await store.head(KEY)).toEqual({ sizeBytes: 1000, sha256: sha256(bytes) });
  expect(await store.hash(KEY)).toEqual({ sizeBytes: 1000, sha256: sha256(bytes) });
  const got = await send("GET", (await store.presignGet({ key: KEY, expiresInSeconds: 60 })).url);
  expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
  for (const _ of [1, 2]) await store.remove(KEY);
  expect(await store.head(KEY)).toBeNull();
  expect(await store.hash(KEY)).toBeNull();
});

test("another length, another checksum, no checksum, another key, or a GET by the URL of a PUT are refused by the store", async () => {
  const bytes = randomBytes(100);
  const put = await store.presignPut({
    key: KEY,
    sizeBytes: bytes.length,
    sha256: sha256(bytes),
    expiresInSeconds: 60,
  });
  const other = randomBytes(100);
  const otherSum = { "x-amz-checksum-sha256": createHash("sha256").update(other).digest("base64") };
  const attempts: [string, string, Buffer<ArrayBuffer> | undefined, Record<string, string>, number][] = [
    ["PUT", put.url, randomBytes(101), put.headers, 403],
    ["PUT", put.url, other, otherSum, 403],
    ["PUT", put.url, bytes, {}, 403],
    ["PUT", put.url, other, put.headers, 400],
    ["PUT", put.url.replace("upl_1", "upl_2"), bytes, put.headers, 403],
    ["GET", put.url, undefined, {}, 403],
    ["PUT", put.url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"), bytes, put.headers, 403],
  ];
  for (const [method, url, body, headers, status] of attempts) {
    expect((await send(method, url, body, headers)).status, `${method} ${url}`).toBe(status);
  }
  expect(server.objects.size).toBe(0);
});

test("a store that repeats checksums without checking them is not believed", async () => {
  await server.close();
  server = await startS3TestServer({ verifiesChecksums: false });
  store = new S3Store({ ...server.settings, log: silentLogger });
  const claimed = randomBytes(100);
  const put = await store.presignPut({
    key: KEY,
    sizeBytes: 100,
    sha256: sha256(claimed),
    expiresInSeconds: 60,
  });
  const other = randomBytes(100);
  expect((await send("PUT", put.url, other, put.headers)).status).toBe(200);
  expect(await store.head(KEY)).toEqual({ sizeBytes: 100, sha256: null });
  expect(await store.hash(KEY)).toEqual({ sizeBytes: 100, sha256: sha256(other) });
  expect(await store.head(KEY)).toEqual({ sizeBytes: 100, sha256: sha256(other) });
  // What was read is remembered with the ETag of what was read.
  const replaced = randomBytes(100);
  expect((await send("PUT", put.url, replaced, put.headers)).status).toBe(200);
  expect(await store.head(KEY)).toEqual({ sizeBytes: 100, sha256: null });
  expect([...server.objects.keys()]).toEqual([KEY]);
});

test("a list goes through all pages", async () => {
  const keys = Array.from({ length: 5 }, (_, index) => `org_1/src_1/upl_${index}.age`);
  for (const key of [...keys, "org_2/src_1/upl_9.age"])
    server.objects.set(key, { bytes: Buffer.from(key), sha256: null });
  const listed: string[] = [];
  for await (const object of store.list("org_1/"))
    listed.push(`${object.key} ${object.sizeBytes} ${object.modifiedAt.toISOString()}`);
  expect(listed).toEqual(keys.map((key) => `${key} ${key.length} 2026-01-02T03:04:05.000Z`));
});

test("multipart: parts by their own URLs, completed once or twice, vouched for only by reading", async () => {
  store = new S3Store({
    ...server.settings,
    log: silentLogger,
    singlePutLimitBytes: 6 * MIB,
    partBytes: 5 * MIB,
  });
  const bytes = randomBytes(12 * MIB);
  const upload = await begin(bytes.length);
  expect(upload.parts.map((part) => part.sizeBytes)).toEqual([5 * MIB, 5 * MIB, 2 * MIB]);
  const parts = [];
  for (const part of upload.parts) {
    const start = (part.partNumber - 1) * 5 * MIB;
    expect((await send("PUT", part.url, bytes.subarray(start, start + 7), part.headers)).status).toBe(403);
    const response = await send("PUT", part.url, bytes.subarray(start, start + part.sizeBytes), part.headers);
    parts.push({ partNumber: part.partNumber, etag: response.headers.get("etag") ?? "" });
  }
  parts.reverse();
  const completion = { key: KEY, uploadId: upload.uploadId, parts };
  for (const _ of [1, 2]) expect(await store.multipart.complete(completion)).toBe(true);
  expect(await store.head(KEY)).toEqual({ sizeBytes: bytes.length, sha256: null });
  expect(await store.hash(KEY)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
});

test("multipart: abandoned, unknown, and with a part that is not there", async () => {
  const upload = await begin(10);
  const missing = {
    key: KEY,
    uploadId: upload.uploadId,
    parts: [{ partNumber: 1, etag: `"${"0".repeat(64)}"` }],
  };
  await expect(store.multipart.complete(missing)).rejects.toMatchObject({ code: "unavailable" });
  const second = await begin(10);
  for (const _ of [1, 2]) await store.multipart.abort({ key: KEY, uploadId: second.uploadId });
  expect(await store.multipart.complete({ ...missing, uploadId: second.uploadId })).toBe(false);
  expect(server.uploads.size).toBe(0);
});

test("parts: equal, a rest, larger ones rather than too many, and never larger than S3 takes", () => {
  expect(partSizes(10, 4)).toEqual([4, 4, 2]);
  expect(partSizes(8, 4)).toEqual([4, 4]);
  const gib = 1024 ** 3;
  expect(store.multipart.partBytesFor(6 * gib)).toBe(512 * MIB);
  expect(store.multipart.partBytesFor(5 * 1024 * gib)).toBe(5 * gib);
  expect(partSizes(5 * 1024 * gib, 5 * gib)).toHaveLength(1024);
  expect(store.multipart.partBytesFor(5 * 1024 * gib + 1)).toBeNull();
});

test('a passing fault is retried; a lasting one is "unavailable" and reveals nothing about the store', async () => {
  server.failures = 2;
  expect(await store.head(KEY)).toBeNull();
  server.failures = 100;
  await expect(store.remove(KEY)).rejects.toMatchObject({ code: "unavailable", status: 503 });
  await server.close();
  const error: unknown = await store.head(KEY).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "unavailable" });
  expect(String(error)).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
  server = await startS3TestServer({ verifiesChecksums: true });
});

test("wrong credentials are the operator's to see, not tried again", async () => {
  const wrong = new S3Store({ ...server.settings, secretAccessKey: "other", log: silentLogger });
  await expect(wrong.head(KEY)).rejects.toMatchObject({ code: "unavailable" });
  expect(server.requests).toHaveLength(1);
});
