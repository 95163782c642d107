import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  cp,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { fastify } from "fastify";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../errors/api-error.ts";
import { DiskStore } from "./disk-store.ts";
import type { CompletedPart, PresignedParts } from "./object-store.ts";
import { objectRoutes } from "./object-routes.ts";
import { signPermission } from "./signed-url.ts";

const KEY = "org_1/src_1/upl_1.age";
const HMAC_KEY = randomBytes(32);
const PART_BYTES = 100_000;

let directory: string;
let app: FastifyInstance;
let store: DiskStore;
let port: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "objects-"));
  port = await freePort();
  store = newStore();
  await store.prepare();
  app = fastify({ forceCloseConnections: true, bodyLimit: 16 });
  app.setErrorHandler((error, _request, reply) =>
    error instanceof ApiError
      ? reply.code(error.status).send({ error: error.code, message: error.message })
      : reply.code(500).send({ error: "internal", message: String(error) }),
  );
  await app.register(objectRoutes(store));
  await app.listen({ host: "127.0.0.1", port });
});
afterEach(async () => {
  await app.close();
  await rm(directory, { recursive: true });
});

/** The store as a service that is started on the directory has it. */
function newStore(): DiskStore {
  return new DiskStore({
    directory,
    publicUrl: `http://127.0.0.1:${port}`,
    hmacKey: HMAC_KEY,
    partBytes: PART_BYTES,
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return free;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function begin(method: string, url: string, headers: Record<string, string> = {}): ClientRequest {
  // The path as it is, without what URL would tidy up.
  return httpRequest({
    host: "127.0.0.1",
    port,
    method,
    path: url.replace(/^http:\/\/[^/]*/, ""),
    headers,
    agent: false,
  });
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

function send(
  method: string,
  url: string,
  body?: Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = begin(method, url, headers);
  sent.end(body);
  return answerTo(sent);
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function putUrl(bytes: Uint8Array, key = KEY): Promise<string> {
  return (
    await store.presignPut({ key, sizeBytes: bytes.length, sha256: sha256(bytes), expiresInSeconds: 60 })
  ).url;
}

async function getUrl(key = KEY): Promise<string> {
  return (await store.presignGet({ key, expiresInSeconds: 60 })).url;
}

function* endless(blocks: number): Iterable<Buffer> {
  const block = randomBytes(1 << 20);
  for (let count = 0; count < blocks; count += 1) yield block;
}

const errorOf = (answer: Answer): unknown => (JSON.parse(answer.body.toString()) as { error: unknown }).error;
const incoming = (): Promise<string[]> => readdir(join(directory, ".incoming"));

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

test("bytes with another digest or length are refused and leave nothing", async () => {
  const bytes = randomBytes(70_000);
  const url = await putUrl(bytes);
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(flipped.readUInt8(40_000) ^ 1, 40_000);
  for (const wrong of [flipped, bytes.subarray(1), Buffer.concat([bytes, bytes]), Buffer.alloc(0)]) {
    for (const chunked of [false, true]) {
      const sent = begin(
        "PUT",
        url,
        chunked ? { "transfer-encoding": "chunked" } : { "content-length": String(wrong.length) },
      );
      sent.end(wrong);
      const answer = await answerTo(sent);
      expect([answer.status, errorOf(answer)], `${wrong.length} ${chunked}`).toEqual([
        422,
        "object_mismatch",
      ]);
    }
  }
  expect(await store.head(KEY)).toBeNull();
  expect(await incoming()).toEqual([]);
  const encoded = await send("PUT", url, bytes, { "content-encoding": "gzip" });
  expect(errorOf(encoded)).toBe("object_mismatch");
});

test("a refusal reaches a client that sends far more than it may", async () => {
  const sent = begin("PUT", await putUrl(Buffer.from("small")), { "transfer-encoding": "chunked" });
  sent.on("error", () => undefined); // The connection may be cut after the answer.
  const answer = answerTo(sent);
  Readable.from(endless(40)).pipe(sent);
  expect(errorOf(await answer)).toBe("object_mismatch");
});

test("only the method, key, length, digest and time of the URL are permitted", async () => {
  const bytes = Buffer.from("ciphertext");
  await send("PUT", await putUrl(bytes), bytes);
  const put = await putUrl(bytes);
  const get = await getUrl();
  const otherKey = (url: string): string => url.replace("upl_1", "upl_2");
  const expired = signPermission(
    { method: "GET", key: KEY, expiresAt: new Date(Date.now() - 1000) },
    HMAC_KEY,
  );
  const refused: [string, string, Uint8Array?][] = [
    ["GET", put],
    ["PUT", get, bytes],
    ["PUT", otherKey(put), bytes],
    ["GET", otherKey(get)],
    ["PUT", put.replace(/size=\d+/, "size=11"), Buffer.from("ciphertext+")],
    ["GET", get.replace(/expires=(\d+)/, "expires=9$1")],
    ["GET", get.replace(/signature=./, "signature=~")],
    ["GET", get.replace(/\?.*/, "")],
    ["GET", `/objects/${KEY}?${expired}`],
  ];
  for (const [method, url, body] of refused) {
    const answer = await send(method, url, body);
    expect([answer.status, errorOf(answer)], `${method} ${url}`).toEqual([403, "forbidden"]);
  }
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

test("twelve PUTs of one URL, a byte each, hold the room of one and one reception; the newest may end", async () => {
  const bytes = randomBytes(1_000_000);
  const url = await putUrl(bytes);
  const older = Array.from({ length: 11 }, () => begun(url, bytes));
  const closed = older.map((sent) => new Promise((done) => sent.once("close", done)));
  const newest = begun(url, bytes);
  // Each one that comes ends the one before.
  await Promise.any([Promise.all(closed.slice(0, 10)), Promise.all([...closed, once(newest, "close")])]);
  await vi.waitFor(async () => expect((await incoming()).length).toBeLessThanOrEqual(1), { timeout: 30_000 });
  newest.destroy();
  for (const sent of older) sent.destroy();
  await vi.waitFor(async () => expect(await incoming()).toEqual([]), { timeout: 30_000 });
  expect((await send("PUT", url, bytes)).status).toBe(200);
});

test("an upload at a trickle is cut off, and its room is free; one at the least rate is received", async () => {
  const strict = fastify({ forceCloseConnections: true, bodyLimit: 16 });
  await strict.register(objectRoutes(store, { leastRate: { window_ms: 500, bytes: 2000 } }));
  const slow = { host: "127.0.0.1", port: await freePort() };
  await strict.listen(slow);
  try {
    const bytes = randomBytes(100_000);
    const trickle = async (each: number, key: string): Promise<unknown> => {
      const { pathname, search } = new URL(await putUrl(bytes, key));
      const sent = httpRequest({
        ...slow,
        agent: false,
        method: "PUT",
        path: pathname + search,
        headers: { "content-length": String(bytes.length) },
      });
      let at = 0;
      const timer = setInterval(() => {
        if (at < bytes.length) sent.write(bytes.subarray(at, (at += each)));
        else sent.end();
      }, 20);
      try {
        return (await answerTo(sent)).status;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      } finally {
        clearInterval(timer);
        sent.destroy();
      }
    };
    // 100,000 bytes would take it two days.
    expect(await trickle(1, "org_1/src_1/upl_2.age")).toBe("ECONNRESET");
    await vi.waitFor(async () => expect(await incoming()).toEqual([]), { timeout: 30_000 });
    expect(await trickle(5000, "org_1/src_1/upl_3.age")).toBe(200);
  } finally {
    await strict.close();
  }
});

/** A PUT that has sent one byte and goes no further. */
function begun(url: string, bytes: Uint8Array): ClientRequest {
  const sent = begin("PUT", url, { "content-length": String(bytes.length) });
  sent.on("error", () => undefined);
  sent.write(bytes.subarray(0, 1));
  return sent;
}

test("an upload that is cut off leaves nothing, and its URL still works", async () => {
  const bytes = randomBytes(5_000_000);
  const url = await putUrl(bytes);
  const sent = begin("PUT", url, { "content-length": String(bytes.length) });
  sent.on("error", () => undefined);
  sent.write(bytes.subarray(0, 2_000_000));
  while ((await incoming()).length === 0) await delay(5);
  sent.destroy();
  while ((await incoming()).length > 0) await delay(5);
  expect(await store.head(KEY)).toBeNull();
  expect((await send("PUT", url, bytes)).status).toBe(200);
});

test("the leftovers of an upload after a kill are swept at the next start, and nothing else", async () => {
  const bytes = Buffer.from("kept");
  await send("PUT", await putUrl(bytes), bytes);
  await writeFile(join(directory, ".incoming", "0123456789abcdef"), "half an upload");
  await store.prepare();
  expect(await incoming()).toEqual([]);
  expect(await store.hash(KEY)).toEqual({ sizeBytes: 4, sha256: sha256(bytes) });
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

test("concurrent uploads are admitted only while all of them can finish on the disk", async () => {
  const run = promisify(execFile);
  const disk = await mkdtemp(join(tmpdir(), "shared-"));
  await run("mount", ["-t", "tmpfs", "-o", "size=5200k", "tmpfs", disk]);
  try {
    const options = { publicUrl: "http://127.0.0.1", hmacKey: HMAC_KEY, reservedBytes: 1 << 20 };
    const small = new DiskStore({ directory: disk, ...options });
    await small.prepare();
    const bytes = randomBytes(2 << 20);
    const expected = { sizeBytes: bytes.length, sha256: sha256(bytes) };
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<boolean>();
    async function* slowly(): AsyncIterable<Buffer> {
      begun.resolve();
      if (await go.promise) yield bytes;
    }
    const whole = (): Readable => Readable.from([bytes]);
    const outcome = (work: Promise<string | void>): Promise<unknown> =>
      work.then(
        (etag) => etag ?? "received",
        (error: unknown) => (error instanceof ApiError ? error.code : error),
      );

    const first = outcome(small.receive("a/1.age", Readable.from(slowly()), expected));
    await begun.promise;
    // There is room for the second beside what is there, and for no third beside what is to come.
    expect(await outcome(small.receive("a/2.age", whole(), expected))).toBe("received");
    expect(await outcome(small.receive("a/3.age", whole(), expected))).toBe("unavailable");
    go.resolve(false);
    expect(await first).toBe("object_mismatch");
    // The first was cut off, and the third has its room.
    expect(await outcome(small.receive("a/3.age", whole(), expected))).toBe("received");
    expect(await outcome(small.receive("a/4.age", whole(), expected))).toBe("unavailable");
    // Nor a part, until there is room for it.
    const planned = { key: "a/5.age", sizeBytes: bytes.length + 1, partBytes: bytes.length };
    const uploadId = await small.multipart.create(planned);
    const part = { method: "PUT", key: "a/5.age", uploadId, partNumber: 1, sizeBytes: bytes.length } as const;
    const permission = { ...part, expiresAt: new Date() };
    const sent = (): Promise<unknown> => outcome(small.multipart.receive(permission, whole()));
    expect(await sent()).toBe("unavailable");
    await small.remove("a/3.age");
    expect(await sent()).toBe(`"${sha256(bytes)}"`);
    // The same again takes none.
    expect(await sent()).toBe(`"${sha256(bytes)}"`);
  } finally {
    // Files that a failed test left open must not keep it.
    await run("umount", ["--lazy", disk]);
    await rm(disk, { recursive: true });
  }
});

test("an upload to a disk that is full, or fills up, gets 503 and leaves nothing", async () => {
  const run = promisify(execFile);
  const disk = await mkdtemp(join(tmpdir(), "full-"));
  await run("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
  try {
    const full = new DiskStore({
      directory: disk,
      publicUrl: "http://127.0.0.1",
      hmacKey: HMAC_KEY,
      reservedBytes: 0,
    });
    await full.prepare();
    const refusal = (error: unknown): unknown => (error instanceof ApiError ? error.code : error);
    const receive = (bytes: number, source: Readable, to = full): Promise<unknown> =>
      to.receive(KEY, source, { sizeBytes: bytes, sha256: "0".repeat(64) }).then(() => "received", refusal);

    expect(await receive(5 << 20, Readable.from([]))).toBe("unavailable");
    const careful = new DiskStore({ directory: disk, publicUrl: "http://127.0.0.1", hmacKey: HMAC_KEY });
    expect(await receive(10, Readable.from([]), careful)).toBe("unavailable");

    async function* whileAnotherFillsTheDisk(): AsyncIterable<Buffer> {
      yield randomBytes(1 << 20);
      await writeFile(join(disk, "other"), randomBytes(2 << 20));
      yield randomBytes(1 << 20);
      yield randomBytes(1 << 20);
    }
    expect(await receive(3 << 20, Readable.from(whileAnotherFillsTheDisk()))).toBe("unavailable");
    expect(await readdir(join(disk, ".incoming"))).toEqual([]);
    expect(await full.head(KEY)).toBeNull();
    await rm(join(disk, "other"));
    await full.receive(KEY, Readable.from([Buffer.from("fits")]), {
      sizeBytes: 4,
      sha256: sha256(Buffer.from("fits")),
    });
    expect(await full.head(KEY)).toEqual({ sizeBytes: 4, sha256: sha256(Buffer.from("fits")) });
  } finally {
    await run("umount", ["--lazy", disk]);
    await rm(disk, { recursive: true });
  }
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

describe("an upload in parts", () => {
  const bytes = randomBytes(2 * PART_BYTES + 7);
  const planned = { key: KEY, sizeBytes: bytes.length, partBytes: PART_BYTES };
  let uploadId: string;
  let signed: PresignedParts["parts"];
  const directoryOf = (): string => join(directory, ".multipart", uploadId);

  beforeEach(async () => {
    uploadId = await store.multipart.create(planned);
    signed = (await store.multipart.presignParts({ ...planned, uploadId, expiresInSeconds: 60 })).parts;
  });

  const urlOf = (partNumber: number): string => signed[partNumber - 1]?.url ?? "";
  const bytesOf = (partNumber: number): Buffer =>
    bytes.subarray((partNumber - 1) * PART_BYTES, partNumber * PART_BYTES);

  async function sendPart(partNumber: number, body = bytesOf(partNumber)): Promise<CompletedPart> {
    const answer = await send("PUT", urlOf(partNumber), body);
    expect(answer.status, answer.body.toString()).toBe(200);
    return { partNumber, etag: answer.headers.etag ?? "" };
  }

  async function sendParts(...partNumbers: number[]): Promise<CompletedPart[]> {
    const sent: CompletedPart[] = [];
    for (const partNumber of partNumbers) sent.push(await sendPart(partNumber));
    return sent;
  }

  const complete = (parts: CompletedPart[], by = store): Promise<boolean> =>
    by.multipart.complete({ key: KEY, uploadId, parts });

  async function expectWhole(): Promise<void> {
    expect((await readFile(join(directory, KEY))).equals(bytes)).toBe(true);
    expect(await store.hash(KEY)).toEqual({ sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect(await readdir(join(directory, ".multipart"))).toEqual([]);
  }

  test("takes them in any order and again, and is one plain file when it is completed, also twice or at once", async () => {
    expect(signed.map(({ partNumber, sizeBytes, headers }) => [partNumber, sizeBytes, headers])).toEqual([
      [1, PART_BYTES, { "content-length": String(PART_BYTES) }],
      [2, PART_BYTES, { "content-length": String(PART_BYTES) }],
      [3, 7, { "content-length": "7" }],
    ]);
    const sent = await sendParts(3, 1, 2);
    expect(await sendParts(1, 3)).toEqual([sent[1], sent[0]]);
    expect(new Set(sent.map(({ etag }) => etag)).size).toBe(3);
    const listed = async (): Promise<string[]> => (await Array.fromAsync(store.list())).map(({ key }) => key);
    expect([await store.head(KEY), await listed()]).toEqual([null, []]);
    expect(await Promise.all([complete(sent), complete(sent)])).toEqual([true, true]);
    expect(await complete(sent)).toBe(true);
    await expectWhole();
    expect((await stat(join(directory, KEY))).mode & 0o777).toBe(0o600);
    expect(await listed()).toEqual([KEY]);
    // Nothing writes to it any more.
    const late = await send("PUT", urlOf(1), bytesOf(1));
    expect([late.status, errorOf(late)]).toEqual([404, "not_found"]);
    await expect(
      store.multipart.presignParts({ ...planned, uploadId, expiresInSeconds: 60 }),
    ).rejects.toMatchObject({ code: "not_found" });
    const range = await send("GET", await getUrl(), undefined, {
      range: `bytes=${PART_BYTES - 2}-${PART_BYTES + 1}`,
    });
    expect([range.status, range.body]).toEqual([206, bytes.subarray(PART_BYTES - 2, PART_BYTES + 2)]);
  });

  test("is not completed, and stays as it is, without all of them or with other ETags", async () => {
    const [first, third] = (await sendParts(1, 3)) as [CompletedPart, CompletedPart];
    const invented = { partNumber: 2, etag: first.etag };
    for (const parts of [[], [first], [first, third], [first, invented, third]])
      expect(await complete(parts)).toBe(false);
    const second = await sendPart(2);
    const wrong = [
      [first, third],
      [first, invented, third],
      [first, first, third],
      [first, second, { ...third, partNumber: 4 }],
      [first, second, third, { partNumber: 4, etag: third.etag }],
    ];
    for (const parts of wrong) expect(await complete(parts)).toBe(false);
    expect(await store.head(KEY)).toBeNull();
    expect(await store.multipart.complete({ key: KEY, uploadId: "0".repeat(32), parts: [] })).toBe(false);
    expect(await store.multipart.complete({ key: KEY, uploadId: "../../..", parts: [] })).toBe(false);
    expect(
      await store.multipart.complete({ key: "org_1/other.age", uploadId, parts: [first, second, third] }),
    ).toBe(false);
    expect(await complete([third, second, first])).toBe(true);
    await expectWhole();
  });

  test("refuses parts of another length, and other bytes for a part that is there", async () => {
    for (const wrong of [bytesOf(1).subarray(1), Buffer.concat([bytesOf(1), Buffer.of(0)]), Buffer.alloc(0)])
      for (const headers of [{ "content-length": String(wrong.length) }, { "transfer-encoding": "chunked" }])
        expect(errorOf(await send("PUT", urlOf(1), wrong, headers))).toBe("object_mismatch");
    const sent = await sendParts(1, 2, 3);
    const other = Buffer.from(bytesOf(2));
    other.writeUInt8(other.readUInt8(50_000) ^ 1, 50_000);
    const refused = await send("PUT", urlOf(2), other);
    expect([refused.status, errorOf(refused)]).toEqual([422, "object_mismatch"]);
    // One of the two is damaged; the sender knows which.
    expect(await complete(sent)).toBe(false);
    expect(await sendPart(2)).toEqual(sent[1]);
    expect(await complete(sent)).toBe(true);
    await expectWhole();
  });

  test("permits each URL one part of one upload of one key", async () => {
    const other = await store.multipart.create(planned);
    const url = urlOf(1);
    for (const changed of [
      url.replace("part=1", "part=2"),
      url.replace("part=1", "part=0"),
      url.replace("part=1", "part=4"),
      url.replace("part=1", "part=01"),
      url.replace("upl_1", "upl_2"),
      url.replace(uploadId, other),
      url.replace(uploadId, "..%2F..%2Forg_1"),
      url.replace(/size=\d+/, "size=7"),
      url.replace(/&part=1/, ""),
      url.replace(/expires=(\d+)/, "expires=9$1"),
      `${await putUrl(bytes)}&part=1&upload=${uploadId}`,
    ]) {
      const answer = await send("PUT", changed, bytesOf(1));
      expect([answer.status, errorOf(answer)], changed).toEqual([403, "forbidden"]);
    }
    expect((await send("GET", url)).status).toBe(403);
    const { parts } = await store.multipart.presignParts({ ...planned, uploadId, expiresInSeconds: -1 });
    expect((await send("PUT", parts[0]?.url ?? "", bytesOf(1))).status).toBe(403);
    expect(await readdir(directoryOf())).toHaveLength(2);
  });

  test("lets a part that is sent again take over from one that is stuck", async () => {
    const stalled = begin("PUT", urlOf(2), { "content-length": String(PART_BYTES), expect: "100-continue" });
    stalled.flushHeaders();
    await once(stalled, "continue");
    const broken = once(stalled, "error");
    stalled.write(randomBytes(40_000));
    const again = sendPart(2);
    await broken;
    const sent = [await sendPart(1), await again, await sendPart(3)];
    expect(await complete(sent)).toBe(true);
    await expectWhole();
  });

  test("continues after kill -9 at any step", async () => {
    const restarted = async (): Promise<DiskStore> => {
      const next = newStore();
      await next.prepare();
      return next;
    };
    // While an upload is begun: a directory without a plan.
    const begun = join(directory, ".multipart", "f".repeat(32));
    await mkdir(begun);
    await writeFile(join(begun, "bytes"), "");
    await restarted();
    expect(await readdir(join(directory, ".multipart"))).toEqual([uploadId]);
    // While a part is written, and while it is marked.
    const [first] = (await sendParts(1)) as [CompletedPart];
    const file = await open(join(directoryOf(), "bytes"), "r+");
    await file.write(randomBytes(PART_BYTES + 7), 0, PART_BYTES + 7, PART_BYTES);
    await file.close();
    await writeFile(join(directoryOf(), ".part-2.0123456789ab.tmp"), sha256(bytesOf(2)));
    const etag = `"${sha256(bytesOf(2))}"`;
    const third = { partNumber: 3, etag: `"${sha256(bytesOf(3))}"` };
    expect(await complete([first, { partNumber: 2, etag }, third], await restarted())).toBe(false);
    const sent = [first, ...(await sendParts(2, 3))];
    // Between the object's name and the removal of what is left of the upload; and in the middle of
    // that.
    const left = join(directory, "left");
    await mkdir(dirname(join(directory, KEY)), { recursive: true });
    await rename(join(directoryOf(), "bytes"), join(directory, KEY));
    await cp(directoryOf(), left, { recursive: true });
    expect(await complete(sent, await restarted())).toBe(true);
    await expectWhole();
    await rename(left, directoryOf());
    await rm(join(directoryOf(), "plan"));
    expect(await complete(sent)).toBe(true);
    await restarted();
    await expectWhole();
  });

  test("is listed until it is aborted, which also ends a part that is being sent", async () => {
    const found = await Array.fromAsync(store.multipart.list());
    expect(found).toMatchObject([{ key: KEY, uploadId }]);
    expect(Math.abs(Date.now() - (found[0]?.initiatedAt.getTime() ?? 0))).toBeLessThan(60_000);
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    async function* slowly(): AsyncIterable<Buffer> {
      begun.resolve();
      await go.promise;
      yield bytesOf(1);
    }
    const permission = { method: "PUT", key: KEY, uploadId, partNumber: 1, sizeBytes: PART_BYTES } as const;
    const underWay = store.multipart
      .receive({ ...permission, expiresAt: new Date() }, Readable.from(slowly()))
      .catch((error: unknown) => error);
    await begun.promise;
    for (const _ of [1, 2]) await store.multipart.abort({ key: KEY, uploadId });
    await store.multipart.abort({ key: KEY, uploadId: ".." });
    go.resolve();
    expect(await underWay).toMatchObject({ code: "not_found" });
    expect(await Array.fromAsync(store.multipart.list())).toEqual([]);
    expect(await readdir(join(directory, ".multipart"))).toEqual([]);
    expect((await send("PUT", urlOf(1), bytesOf(1))).status).toBe(404);
    expect(await complete([])).toBe(false);
  });
});
