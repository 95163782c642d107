import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { S3Store } from "../../packages/orchestrator/src/platform/objects/s3-store.ts";
import { startS3Server, type S3Answer, type S3Server } from "../e2e/harness/s3-server.ts";

/** The service's object store against somebody else's S3 server. */

const MIB = 1024 ** 2;
let server: S3Server;
let store: S3Store;
beforeAll(async () => {
  server = await startS3Server();
  store = new S3Store({
    ...server.settings,
    log: silentLogger,
    singlePutLimitBytes: 5 * MIB,
    partBytes: 5 * MIB,
  });
});
afterAll(() => server.remove());

let made = 0;
const newKey = (): string => `org_1/src_1/upl_${made++}.age`;
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function presign(key: string, bytes: Uint8Array) {
  return store.presignPut({ key, sizeBytes: bytes.length, sha256: sha256(bytes), expiresInSeconds: 900 });
}

async function stored(bytes: Uint8Array, key = newKey()): Promise<string> {
  const put = await presign(key, bytes);
  const answer = await server.send({ ...put, body: bytes });
  expect(answer.status, answer.body.toString()).toBe(200);
  return key;
}

async function get(key: string, headers: Record<string, string> = {}): Promise<S3Answer> {
  const { url } = await store.presignGet({ key, expiresInSeconds: 900 });
  return server.send({ method: "GET", url, headers });
}

/** Runs it as it would have been run then. */
async function at<T>(time: Date, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: time });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}
const HOUR_MS = 3_600_000;
const ago = (ms: number): Date => new Date(Date.now() - ms);

describe("an upload URL", () => {
  const bytes = randomBytes(100_000);
  const other = randomBytes(100_000);
  const sum = (of: Uint8Array): string => createHash("sha256").update(of).digest("base64");

  it("accepts its bytes, and the store vouches for them", async () => {
    const key = await stored(bytes);
    expect(await store.head(key)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect(await store.hash(key)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect((await get(key)).body.equals(bytes)).toBe(true);
  });

  it("accepts them twice, and an empty object if it was announced as empty", async () => {
    const key = newKey();
    for (const _ of [1, 2]) await stored(bytes, key);
    expect((await get(await stored(Buffer.alloc(0)))).body).toHaveLength(0);
  });

  it.each<[string, (sent: { url: string; headers: Record<string, string> }) => object]>([
    ["other bytes of that length", () => ({ body: other })],
    [
      "other bytes with their own checksum",
      ({ headers }) => ({ headers: { ...headers, "x-amz-checksum-sha256": sum(other) }, body: other }),
    ],
    ["fewer bytes", () => ({ body: bytes.subarray(1) })],
    ["more bytes", () => ({ body: Buffer.concat([bytes, bytes]) })],
    ["no bytes", () => ({ body: Buffer.alloc(0) })],
    ["no checksum", ({ headers }) => ({ headers: { "content-length": headers["content-length"] } })],
    ["another key", ({ url }) => ({ url: url.replace(/upl_\d+/, "upl_other") })],
    ["another bucket", ({ url }) => ({ url: url.replace("/backups/", "/others/") })],
    ["a longer life", ({ url }) => ({ url: url.replace("X-Amz-Expires=900", "X-Amz-Expires=9000") })],
    ["POST", () => ({ method: "POST" })],
    ["GET", () => ({ method: "GET", body: undefined })],
    ["DELETE", () => ({ method: "DELETE", body: undefined })],
  ])("refuses %s", async (_name, change) => {
    const key = newKey();
    const put = await presign(key, bytes);
    const answer = await server.send({ ...put, body: bytes, ...change(put) });
    expect(answer.status, answer.body.toString()).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(await store.head(key)).toBeNull();
  });

  it("refuses everything once it has expired", async () => {
    const key = newKey();
    const put = await at(ago(HOUR_MS), () => presign(key, bytes));
    const answer = await server.send({ ...put, body: bytes });
    expect(answer.status).toBe(403);
    expect(await store.head(key)).toBeNull();
  });
});

describe("a download URL", () => {
  it.each([
    ["bytes=0-0", 0, 1],
    ["bytes=100-199", 100, 200],
    ["bytes=4900-", 4900, 5000],
    ["bytes=-100", 4900, 5000],
  ])("answers the range %s", async (range, start, end) => {
    const bytes = randomBytes(5000);
    const answer = await get(await stored(bytes), { range });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toBe(`bytes ${start}-${end - 1}/5000`);
    expect(answer.body.equals(bytes.subarray(start, end))).toBe(true);
  });

  it("works only for its key, for GET and for its time", async () => {
    const bytes = randomBytes(5000);
    const [key, another] = [await stored(bytes), await stored(randomBytes(10))];
    const { url } = await store.presignGet({ key, expiresInSeconds: 900 });
    const statuses = [
      await server.send({ method: "GET", url: url.replace(key, another) }),
      await server.send({ method: "PUT", url, body: bytes }),
      await server.send({ method: "DELETE", url }),
      await server.send({
        method: "GET",
        url: (await at(ago(HOUR_MS), () => store.presignGet({ key, expiresInSeconds: 900 }))).url,
      }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect((await get(key)).body.equals(bytes)).toBe(true);
  });
});

describe("an upload in parts", () => {
  const bytes = randomBytes(12 * MIB);

  async function begin() {
    const key = newKey();
    const uploadId = await store.multipart.create({ key });
    const request = {
      key,
      uploadId,
      sizeBytes: bytes.length,
      partBytes: 5 * MIB,
      expiresInSeconds: 900,
    };
    return { key, uploadId, request, ...(await store.multipart.presignParts(request)) };
  }
  type Part = Awaited<ReturnType<typeof begin>>["parts"][number];
  const bytesOf = ({ partNumber, sizeBytes }: Part): Buffer =>
    bytes.subarray((partNumber - 1) * 5 * MIB, (partNumber - 1) * 5 * MIB + sizeBytes);
  async function send(part: Part, body: Uint8Array = bytesOf(part)) {
    const answer = await server.send({ ...part, body });
    return { status: answer.status, partNumber: part.partNumber, etag: answer.headers.etag ?? "" };
  }

  it("is one object when it is complete, in whatever order and however often its parts came", async () => {
    const { key, uploadId, parts } = await begin();
    expect(parts.map(({ sizeBytes }) => sizeBytes)).toEqual([5 * MIB, 5 * MIB, 2 * MIB]);
    const sent: Awaited<ReturnType<typeof send>>[] = [];
    for (const part of [...parts].reverse()) sent.push(await send(part));
    sent[0] = await send(parts[2] as Part);
    expect(await store.head(key)).toBeNull();
    const complete = (): Promise<boolean> => store.multipart.complete({ key, uploadId, parts: sent });
    expect(await Promise.all([complete(), complete()])).toEqual([true, true]);
    expect(await complete()).toBe(true);
    // A checksum of checksums is none of the bytes: they have to be read.
    expect(await store.head(key)).toEqual({ sizeBytes: bytes.length, sha256: null });
    const [first, second] = await Promise.all([store.hash(key), store.hash(key)]);
    expect(first).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect(second).toEqual(first);
    expect(await store.head(key)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect((await get(key, { range: "bytes=5242870-5242889" })).body).toEqual(
      bytes.subarray(5242870, 5242890),
    );
  });

  it("continues with new URLs when the first have expired", async () => {
    const { key, uploadId, request, parts } = await begin();
    const expired = await at(ago(HOUR_MS), () => store.multipart.presignParts(request));
    const sent = [await send(parts[0] as Part)];
    expect((await send(expired.parts[1] as Part)).status).toBe(403);
    const renewed = await store.multipart.presignParts(request);
    for (const part of renewed.parts.slice(1)) sent.push(await send(part));
    expect(await store.multipart.complete({ key, uploadId, parts: sent })).toBe(true);
    expect((await store.hash(key))?.sha256).toBe(sha256(bytes));
  });

  it("refuses other lengths and part numbers; other bytes are found when the whole is read", async () => {
    const { key, uploadId, parts } = await begin();
    const [first, second, third] = parts as [Part, Part, Part];
    expect((await send(first, bytesOf(third))).status).toBe(403);
    const url = first.url.replace("partNumber=1", "partNumber=2");
    expect((await send({ ...first, url })).status).toBe(403);
    const sent = [await send(first, bytesOf(second)), await send(second), await send(third)];
    expect(await store.multipart.complete({ key, uploadId, parts: sent })).toBe(true);
    expect((await store.head(key))?.sha256).toBeNull();
    expect((await store.hash(key))?.sha256).not.toBe(sha256(bytes));
  });

  it("is no object without all of its parts, or with ETags that the store did not return", async () => {
    const { key, uploadId, parts } = await begin();
    const sent = [await send(parts[0] as Part)];
    const invented = [...sent, { partNumber: 2, etag: `"${"0".repeat(32)}"` }];
    expect(await store.multipart.complete({ key, uploadId, parts: invented })).toBe(false);
    expect(await store.head(key)).toBeNull();
    expect(await store.multipart.complete({ key, uploadId: "unknown", parts: sent })).toBe(false);
  });

  it("is listed until it is completed or aborted", async () => {
    const [kept, aborted] = [await begin(), await begin()];
    const listed = async (): Promise<string[]> => {
      const keys = [];
      for await (const { key, uploadId, initiatedAt } of store.multipart.list()) {
        expect(Math.abs(initiatedAt.getTime() - Date.now())).toBeLessThan(120_000);
        if ([kept.uploadId, aborted.uploadId].includes(uploadId)) keys.push(key);
      }
      return keys.toSorted();
    };
    expect(await listed()).toEqual([kept.key, aborted.key].toSorted());
    for (const _ of [1, 2]) await store.multipart.abort(aborted);
    expect(await listed()).toEqual([kept.key]);
    expect((await send(aborted.parts[0] as Part)).status).toBe(404);
    expect((await send(kept.parts[0] as Part)).status).toBe(200);
  });
});

describe("a list", () => {
  it("has everything that the service stored, on all pages, and nothing else", async () => {
    const many = await startS3Server();
    try {
      const others = ["readme.txt", "org_1/else.txt", "odd key é+%25/&<>.age"];
      for (const key of others) {
        const encoded = key.split("/").map(encodeURIComponent).join("/");
        expect((await many.send({ method: "PUT", key: encoded, body: "x" })).status).toBe(200);
      }
      const keys = Array.from({ length: 1005 }, (_, index) => `org_1/src_${index % 2}/upl_${index}.age`);
      for (const key of keys) await many.send({ method: "PUT", key, body: "12345" });
      const lister = new S3Store({ ...many.settings, log: silentLogger });
      const found: string[] = [];
      for await (const { key, sizeBytes, modifiedAt } of lister.list()) {
        found.push(key);
        expect(sizeBytes).toBe(5);
        expect(Math.abs(modifiedAt.getTime() - Date.now())).toBeLessThan(300_000);
      }
      expect(found.toSorted()).toEqual(keys.toSorted());
      const some: string[] = [];
      for await (const { key } of lister.list("org_1/src_1/")) some.push(key);
      expect(some).toHaveLength(502);
    } finally {
      await many.remove();
    }
  });
});

describe("removal", () => {
  it("removes an object, once or twice", async () => {
    const key = await stored(randomBytes(10));
    for (const _ of [1, 2]) expect(await store.remove(key)).toBe("removed");
    expect(await store.head(key)).toBeNull();
    expect((await get(key)).status).toBe(404);
  });

  it("removes nothing that cannot be the service's", async () => {
    await expect(store.remove("../other/key")).rejects.toThrow(RangeError);
  });
});

describe("wrong credentials", () => {
  it("are refused by the store, and the caller learns nothing of it", async () => {
    const wrong = new S3Store({ ...server.settings, secretAccessKey: "other", log: silentLogger });
    await expect(wrong.head("org_1/src_1/upl_1.age")).rejects.toMatchObject({ code: "unavailable" });
    const put = await wrong.presignPut({
      key: newKey(),
      sizeBytes: 3,
      sha256: sha256(Buffer.from("abc")),
      expiresInSeconds: 900,
    });
    expect((await server.send({ ...put, body: "abc" })).status).toBe(403);
  });
});
