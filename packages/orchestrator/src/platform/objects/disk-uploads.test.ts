import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fastify } from "fastify";
import { expect, test, vi } from "vitest";
import { SmallDisk } from "../../../../host/test/small-disk.ts";
import { ApiError } from "../errors/api-error.ts";
import { DiskStore } from "./disk-store.ts";
import { objectRoutes } from "./object-routes.ts";
import { signPermission } from "./signed-url.ts";
import {
  answerTo,
  begin,
  directory,
  errorOf,
  freePort,
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

function* endless(blocks: number): Iterable<Buffer> {
  const block = randomBytes(1 << 20);
  for (let count = 0; count < blocks; count += 1) yield block;
}

/** A PUT that has sent one byte and goes no further. */
function begun(url: string, bytes: Uint8Array): ClientRequest {
  const sent = begin("PUT", url, { "content-length": String(bytes.length) });
  sent.on("error", () => undefined);
  sent.write(bytes.subarray(0, 1));
  return sent;
}

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

test("concurrent uploads are admitted only while all of them can finish on the disk", async () => {
  const disk = await mkdtemp(join(tmpdir(), "shared-"));
  try {
    // Files that a failed test left open must not keep it.
    using _ = new SmallDisk(disk, { bytes: 5200 << 10, isLazy: true });
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
    await rm(disk, { recursive: true });
  }
});

test("an upload to a disk that is full, or fills up, gets 503 and leaves nothing", async () => {
  const disk = await mkdtemp(join(tmpdir(), "full-"));
  try {
    using _ = new SmallDisk(disk, { bytes: 4 << 20, isLazy: true });
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
    await rm(disk, { recursive: true });
  }
});
