import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examineObjects } from "../../packages/orchestrator/src/cli/doctor/examine-objects.ts";
import { readConfig } from "../../packages/orchestrator/src/platform/config/read-config.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import type { ObjectLock } from "../../packages/orchestrator/src/platform/objects/s3-object-lock.ts";
import { S3Store } from "../../packages/orchestrator/src/platform/objects/s3-store.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";

/** A bucket with object lock, and so with versions, on somebody else's S3 server. */

const DAY_MS = 86_400_000;
let server: S3Server;
beforeAll(async () => {
  server = await startS3Server({ objectLock: true });
});
afterAll(() => server.remove());

const storeWith = (objectLock?: ObjectLock): S3Store =>
  new S3Store({ ...server.settings, log: silentLogger, objectLock });

let made = 0;
async function stored(store: S3Store, bytes: Uint8Array, key = `org_1/src_1/upl_${made++}.age`) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const put = await store.presignPut({ key, sizeBytes: bytes.length, sha256, expiresInSeconds: 900 });
  expect((await server.send({ ...put, body: bytes })).status).toBe(200);
  return key;
}

interface Retention {
  mode: string | undefined;
  days: number;
}

async function retention(key: string): Promise<Retention | null> {
  const answer = await server.send({ method: "GET", key, query: { retention: "" } });
  const xml = answer.body.toString();
  if (answer.status !== 200 && /NoSuchObjectLockConfiguration/.test(xml)) return null;
  expect(answer.status, xml).toBe(200);
  const until = /<RetainUntilDate>([^<]+)</.exec(xml)?.[1] ?? "";
  return {
    mode: /<Mode>([^<]+)</.exec(xml)?.[1],
    days: Math.round(((Date.parse(until) - Date.now()) / DAY_MS) * 100) / 100,
  };
}

async function versionsOf(key: string): Promise<string[]> {
  const answer = await server.send({ method: "GET", query: { versions: "", prefix: key } });
  return [...answer.body.toString().matchAll(/<VersionId>([^<]+)</g)].map(([, id]) => id ?? "");
}

async function readable(store: S3Store, key: string): Promise<number> {
  return (await server.send({ method: "GET", ...(await store.presignGet({ key, expiresInSeconds: 900 })) }))
    .status;
}

describe("doctor", () => {
  it("proposes a lock if the bucket supports it and the settings have none", async () => {
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server.settings;
    const examine = (more: NodeJS.ProcessEnv) =>
      examineObjects(
        readConfig({
          ATTESTORE_S3_ENDPOINT: endpoint,
          ATTESTORE_S3_REGION: region,
          ATTESTORE_S3_BUCKET: bucket,
          ATTESTORE_S3_ACCESS_KEY_ID: accessKeyId,
          ATTESTORE_S3_SECRET_ACCESS_KEY: secretAccessKey,
          ...more,
        }),
      );
    expect(await examine({})).toMatchObject({
      level: "warning",
      message: expect.stringContaining("The bucket supports object lock, but backups are not locked."),
      next: expect.stringContaining("ATTESTORE_S3_OBJECT_LOCK_DAYS"),
    });
    expect(await examine({ ATTESTORE_S3_OBJECT_LOCK_DAYS: "30" })).toMatchObject({ level: "ok" });
  });
});

describe("a lock of the settings", () => {
  it.each(["GOVERNANCE", "COMPLIANCE"] as const)("is put on protected objects: %s", async (mode) => {
    const store = storeWith({ mode, days: 30 });
    const key = await stored(store, randomBytes(100));
    expect(await retention(key)).toBeNull();
    for (const _ of [1, 2]) await store.protect(key);
    expect(await retention(key)).toEqual({ mode, days: 30 });
  });

  it("prevents removal, which reports the lock and changes nothing", async () => {
    const store = storeWith({ mode: "COMPLIANCE", days: 1 });
    const key = await stored(store, randomBytes(100));
    await store.protect(key);
    const versions = await versionsOf(key);
    for (const _ of [1, 2]) expect(await store.remove(key)).toBe("retained");
    expect(await versionsOf(key)).toEqual(versions);
    expect(await readable(store, key)).toBe(200);
    const listed = [];
    for await (const object of store.list(key)) listed.push(object.key);
    expect(listed).toEqual([key]);
  });

  it("never shortens or weakens an existing lock", async () => {
    const key = await stored(storeWith(), randomBytes(100));
    await storeWith({ mode: "COMPLIANCE", days: 30 }).protect(key);
    await storeWith({ mode: "COMPLIANCE", days: 10 }).protect(key);
    expect(await retention(key)).toEqual({ mode: "COMPLIANCE", days: 30 });
    await storeWith({ mode: "GOVERNANCE", days: 40 }).protect(key);
    expect(await retention(key)).toEqual({ mode: "COMPLIANCE", days: 40 });
  });

  it("is not put on anything without a setting", async () => {
    const store = storeWith();
    const key = await stored(store, randomBytes(100));
    await store.protect(key);
    expect(await retention(key)).toBeNull();
  });

  it("is known to be supported or not", async () => {
    expect(await storeWith().locksObjects()).toBe(true);
    const plain = await startS3Server();
    try {
      const store = new S3Store({ ...plain.settings, log: silentLogger });
      expect(await store.locksObjects()).toBe(false);
    } finally {
      await plain.remove();
    }
    const away = new S3Store({ ...server.settings, endpoint: "http://127.0.0.1:9", log: silentLogger });
    expect(await away.locksObjects()).toBeNull();
  });
});

describe("a legal hold", () => {
  it("prevents removal until it is lifted", async () => {
    const store = storeWith();
    const key = await stored(store, randomBytes(100));
    const hold = async (status: string): Promise<void> => {
      const body = `<LegalHold xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>${status}</Status></LegalHold>`;
      const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
      const answer = await server.send({ method: "PUT", key, query: { "legal-hold": "" }, headers, body });
      expect(answer.status, answer.body.toString()).toBe(200);
    };
    await hold("ON");
    expect(await store.remove(key)).toBe("retained");
    await hold("OFF");
    expect(await store.remove(key)).toBe("removed");
    expect(await store.head(key)).toBeNull();
  });
});

describe("removal in a bucket with versions", () => {
  it("leaves no version behind, and may be repeated", async () => {
    const store = storeWith();
    const bytes = randomBytes(100);
    const key = await stored(store, bytes);
    await stored(store, bytes, key);
    const neighbour = await stored(store, bytes, `${key}.age`);
    expect(await versionsOf(key)).toHaveLength(3);
    for (const _ of [1, 2]) expect(await store.remove(key)).toBe("removed");
    expect(await versionsOf(key)).toHaveLength(1);
    expect(await readable(store, neighbour)).toBe(200);
  });

  it("continues after somebody added a delete marker", async () => {
    const store = storeWith();
    const key = await stored(store, randomBytes(100));
    expect((await server.send({ method: "DELETE", key })).status).toBe(204);
    expect(await store.head(key)).toBeNull();
    expect(await store.remove(key)).toBe("removed");
    expect(await versionsOf(key)).toEqual([]);
  });
});
