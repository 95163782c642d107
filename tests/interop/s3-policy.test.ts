import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { S3Store } from "../../packages/orchestrator/src/platform/objects/s3-store.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";

/** The policy of docs/operate.md is enough for all that the service does with its store. */

const page = readFileSync(new URL("../../docs/operate.md", import.meta.url), "utf8");
const POLICY = /```json\n(\{\n {2}"Version": "2012-10-17"[^`]*)```/.exec(page)?.[1] ?? "";
const MIB = 1024 ** 2;
const KEY = "org_1/src_1/upl_1.age";

interface Statement {
  Action: string[];
}
const withoutLast = (): string => {
  const { Statement: statements, ...rest } = JSON.parse(POLICY) as { Statement: Statement[] };
  return JSON.stringify({ ...rest, Statement: statements.slice(0, -1) });
};

let plain: S3Server;
let locking: S3Server;
beforeAll(async () => {
  plain = await startS3Server();
  locking = await startS3Server({ objectLock: true });
});
afterAll(async () => {
  await plain.remove();
  await locking.remove();
});

async function storeOf(server: S3Server, policy: string, days?: number): Promise<S3Store> {
  const user = await server.userWith(policy.replaceAll("example-backups", server.settings.bucket));
  return new S3Store({
    ...server.settings,
    ...user,
    log: silentLogger,
    partBytes: 5 * MIB,
    objectLock: days === undefined ? undefined : { mode: "GOVERNANCE", days },
  });
}

/** All that the service ever asks of its store. */
async function useAll(server: S3Server, store: S3Store): Promise<void> {
  const bytes = randomBytes(1000);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const put = await store.presignPut({ key: KEY, sizeBytes: 1000, sha256, expiresInSeconds: 900 });
  expect((await server.send({ ...put, body: bytes })).status).toBe(200);
  expect(await store.head(KEY)).toEqual({ sizeBytes: 1000, sha256 });
  expect((await store.hash(KEY))?.sha256).toBe(sha256);
  const { url } = await store.presignGet({ key: KEY, expiresInSeconds: 900 });
  expect((await server.send({ method: "GET", url })).status).toBe(200);
  const listed = [];
  for await (const { key } of store.list()) listed.push(key);
  expect(listed).toEqual([KEY]);

  const key = "org_1/src_1/upl_2.age";
  const [uploadId, other] = [await store.multipart.create({ key }), await store.multipart.create({ key })];
  const unfinished = [];
  for await (const upload of store.multipart.list()) unfinished.push(upload.uploadId);
  expect(unfinished).toHaveLength(2);
  await store.multipart.abort({ key, uploadId: other });
  const partBytes = 5 * MIB;
  const request = { key, uploadId, sizeBytes: 1000, partBytes, expiresInSeconds: 900 };
  const { parts } = await store.multipart.presignParts(request);
  const sent = [];
  for (const part of parts) {
    const { status, headers } = await server.send({ ...part, body: bytes });
    expect(status).toBe(200);
    sent.push({ partNumber: part.partNumber, etag: headers.etag ?? "" });
  }
  expect(await store.multipart.complete({ key, uploadId, parts: sent })).toBe(true);
  for (const _ of [1, 2]) expect(await store.remove(key)).toBe("removed");
  await store.protect(KEY);
}

it("the documented policy is enough, without its last statement, for a bucket without versions", async () => {
  const store = await storeOf(plain, withoutLast());
  await useAll(plain, store);
  for (const _ of [1, 2]) expect(await store.remove(KEY)).toBe("removed");
});

it("the documented policy is not enough without its first statement", async () => {
  const { Statement: statements, ...rest } = JSON.parse(POLICY) as { Statement: Statement[] };
  const server = await startS3Server();
  try {
    const store = await storeOf(server, JSON.stringify({ ...rest, Statement: statements.slice(1, 2) }));
    const listed = store.list()[Symbol.asyncIterator]().next();
    await expect(listed).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.multipart.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "unavailable",
    });
  } finally {
    await server.remove();
  }
});

it("the documented policy is enough for a bucket with object lock, and does not allow the lock to be bypassed", async () => {
  const store = await storeOf(locking, POLICY, 30);
  expect(await store.locksObjects()).toBe(true);
  await useAll(locking, store);
  expect(await store.remove(KEY)).toBe("retained");
  expect((await store.head(KEY))?.sizeBytes).toBe(1000);
});
