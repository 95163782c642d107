import { errorMessage } from "@attestore/host/errno";
import { Cron } from "croner";
import type { Database } from "../../platform/database/schema.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { forgetUpload, isUploadAlive, listAbandoned } from "./store.ts";

interface AbandonedUploads {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
}

/**
 * How long nobody has asked for URLs of an upload in parts before its parts, which take room and
 * are in no list, are removed.
 */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** Aborts abandoned uploads once an hour, until `signal`. What fails is left for the next hour. */
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
 * Goes by the store's own list, so an upload is found whose beginning a crash kept from being recorded. Several replicas may do it at
 * once. An agent that goes on after all gets 404 from the store and begins anew.
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
 * Forgets uploads whose URLs ran out a day ago and of which the store has nothing, so that they take no room of their organisation's quota for ever: those
 * of agents that were killed, or of parts that were aborted. One whose object is there stays until the sweep removes that.
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
