import { errorMessage } from "@attestore/host/errno";
import { Cron } from "croner";
import type { Database } from "../../platform/database/schema.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { forgetUpload, isUploadAlive, listAbandoned } from "./upload-store.ts";

interface AbandonedUploads {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
}

/**
 * If nobody asked for URLs of a multipart upload for this long, its parts are removed. They take
 * room, and no list shows them.
 */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/**
 * Aborts abandoned uploads once an hour until `signal`. Whatever fails is tried again an hour
 * later.
 */
export function startAbandonedUploads({
  signal,
  ...options
}: AbandonedUploads & { signal: AbortSignal }): Cron {
  const { logger } = options;
  const job = new Cron("41 * * * *", { protect: true, timezone: "UTC", unref: true }, async () => {
    if (signal.aborted) return;
    try {
      const aborted = await abortAbandonedUploads(options, new Date());
      const forgotten = await forgetEmptyUploads(options, new Date(), signal);
      if (forgotten > 0) logger.info({ forgotten }, "forgot uploads that never started");
      if (aborted > 0) logger.info({ aborted }, "aborted abandoned uploads");
    } catch (error) {
      logger.warn(
        { reason: errorMessage(error) },
        "abandoned uploads could not be aborted; trying again in an hour",
      );
    }
  });
  signal.addEventListener("abort", () => job.stop(), { once: true });
  return job;
}

/**
 * Uses the store's own list, so it also finds an upload that a crash kept from being recorded.
 * Several replicas may run this at once. An agent that continues after all gets a 404 from the
 * store and starts again.
 * @returns how many were aborted
 */
export async function abortAbandonedUploads({ db, objects }: AbandonedUploads, now: Date): Promise<number> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  let aborted = 0;
  for await (const { key, uploadId, initiatedAt } of objects.multipart.list()) {
    if (initiatedAt >= before || (await isUploadAlive(db, key, before))) continue;
    await objects.multipart.abort({ key, uploadId });
    aborted += 1;
  }
  return aborted;
}

const PAGE = 500;

/**
 * Forgets uploads whose URLs expired a day ago and which left nothing in the store, so that they do
 * not count against the organisation's quota for ever. They come from agents that were killed, or
 * from aborted parts. An upload whose object exists stays until the sweep removes the object.
 * @returns how many were forgotten
 */
export async function forgetEmptyUploads(
  { db, objects }: Pick<AbandonedUploads, "db" | "objects">,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  const inParts = new Set<string>();
  for await (const { key } of objects.multipart.list()) inParts.add(key);
  let forgotten = 0;
  for (let after = ""; signal?.aborted !== true;) {
    const page = await listAbandoned(db, { before, after, limit: PAGE });
    for (const { object_key: key } of page) {
      if (inParts.has(key) || (await objects.head(key)) !== null) continue;
      if (await forgetUpload(db, key, before)) forgotten += 1;
    }
    after = page.at(-1)?.id ?? "";
    if (page.length < PAGE) break;
  }
  return forgotten;
}
