import { createHash, randomBytes } from "node:crypto";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { errorCode, errorMessage, fetchMessage } from "@attestore/host/errno";
import type { Config } from "../../platform/config/read-config.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { S3Store } from "../../platform/objects/s3-store.ts";
import { openObjects } from "../../service/open-objects.ts";
import { failed, type Finding, ok, skipped, warning } from "@attestore/host/finding";

const WITHIN_MS = 20_000;

/** Writes, reads and removes an object in the place that the service uses. */
export async function examineObjects(config: Config): Promise<Finding> {
  return config.s3Bucket === undefined
    ? examineDirectory(join(config.data, "objects"))
    : examineBucket(config);
}

/**
 * Among the unfinished uploads, which the service removes at its start: a probe that is cut off
 * leaves nothing for long.
 */
async function examineDirectory(directory: string): Promise<Finding> {
  const probe = join(directory, ".incoming", `doctor-${randomBytes(8).toString("hex")}`);
  const bytes = randomBytes(4096);
  try {
    const file = await open(probe, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const same = (await readFile(probe)).equals(bytes);
    await rm(probe);
    return same
      ? ok("objects", `${directory}: written, read and removed.`)
      : failed(
          "objects",
          `${directory} returned different bytes than were written.`,
          "Do not use this disk.",
        );
  } catch (error) {
    await rm(probe, { force: true }).catch(() => undefined);
    if (errorCode(error) === "ENOENT")
      return skipped("objects", `${directory} does not exist yet: the first start creates it.`);
    return failed(
      "objects",
      `${directory}: ${errorMessage(error)}.`,
      "Check its owner, and that it is not full or read-only.",
    );
  }
}

async function examineBucket(config: Config): Promise<Finding> {
  const where = `S3 bucket ${config.s3Bucket ?? ""}`;
  try {
    const { objects } = await openObjects(config, Buffer.alloc(32), { isFirst: true }, silentLogger);
    const tried = await tryBucket(objects, where);
    return tried.level === "ok" ? await proposeLock(config, objects, where, tried) : tried;
  } catch (error) {
    return failed(
      "objects",
      `${where}: ${fetchMessage(error)}.`,
      "Does the store run, and does this host reach ATTESTORE_S3_ENDPOINT? Also check the other ATTESTORE_S3_… and the policy in docs/operate.md.",
    );
  }
}

/**
 * Nobody who has the service, its database or its credentials can remove a locked object from the
 * bucket.
 */
async function proposeLock(
  { s3ObjectLockDays }: Config,
  objects: ObjectStore,
  where: string,
  tried: Finding,
): Promise<Finding> {
  if (
    s3ObjectLockDays !== undefined ||
    !(objects instanceof S3Store) ||
    (await objects.locksObjects()) !== true
  )
    return tried;
  return warning(
    "objects",
    `${where}: written, read and removed. The bucket supports object lock, but backups are not locked.`,
    "Set ATTESTORE_S3_OBJECT_LOCK_DAYS, to 30 for example: then nobody can remove a backup before its time. See docs/operate.md, Object lock.",
  );
}

async function tryBucket(objects: ObjectStore, where: string): Promise<Finding> {
  const key = `${newId("org")}/${newId("source")}/${newId("upload")}.age`;
  const bytes = randomBytes(4096);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const put = await objects.presignPut({ key, sizeBytes: bytes.length, sha256, expiresInSeconds: 60 });
  // fetch sets the length of the body itself.
  const { "content-length": _length, ...headers } = put.headers;
  const stored = await fetch(put.url, {
    method: put.method,
    headers,
    body: bytes,
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  if (!stored.ok)
    return failed(
      "objects",
      `${where}: an upload got status ${stored.status}.`,
      "Check the credentials, the region and the policy.",
    );
  const { url } = await objects.presignGet({ key, expiresInSeconds: 60 });
  const got = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) });
  const same = got.ok && Buffer.from(await got.arrayBuffer()).equals(bytes);
  const removed = await objects.remove(key);
  if (!same)
    return failed(
      "objects",
      `${where}: the uploaded object could not be read back.`,
      "Check the policy: s3:GetObject.",
    );
  if (removed === "retained")
    return warning(
      "objects",
      `${where}: written and read; object lock keeps the test object ${key} for now.`,
      "Nothing to do: it is removed when the lock ends.",
    );
  return ok("objects", `${where}: written, read and removed.`);
}
