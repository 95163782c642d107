import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import type { DiskStore } from "./disk-store.ts";
import type { CompletedPart, PresignedParts } from "./object-store.ts";
import {
  begin,
  directory,
  errorOf,
  getUrl,
  KEY,
  newStore,
  PART_BYTES,
  putUrl,
  send,
  sha256,
  store,
  useServedDiskStore,
} from "../../../test/served-disk-store.ts";

useServedDiskStore();

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

test("an upload in parts takes them in any order and again, and is one plain file when it is completed, also twice or at once", async () => {
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

test("an upload in parts is not completed, and stays as it is, without all of them or with other ETags", async () => {
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

test("an upload in parts refuses parts of another length, and other bytes for a part that is there", async () => {
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

test("an upload in parts permits each URL one part of one upload of one key", async () => {
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

test("an upload in parts lets a part that is sent again take over from one that is stuck", async () => {
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

test("an upload in parts continues after kill -9 at any step", async () => {
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

test("an upload in parts is listed until it is aborted, which also ends a part that is being sent", async () => {
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
