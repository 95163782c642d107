import { join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import type { Config } from "../platform/config/read-config.ts";
import { UserError } from "../platform/errors/user-error.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { DiskStore, type DiskStoreOptions } from "../platform/objects/disk-store.ts";
import { objectRoutes } from "../platform/objects/object-routes.ts";
import type { ObjectStore } from "../platform/objects/object-store.ts";
import { S3Store } from "../platform/objects/s3-store.ts";
import type { WorkerParts } from "./worker-parts.ts";

export interface OpenObjects {
  objects: ObjectStore;
  /** The routes behind the store's URLs; null if agents talk to another host. */
  routes: FastifyPluginAsync | null;
}

/**
 * The object store of the settings, ready to serve: S3 if there is a bucket, otherwise the disk.
 * @throws UserError `invalid_setting` for a bucket that can't do what the settings ask for
 */
export async function openObjects(
  config: Config,
  hmacKey: Uint8Array,
  { turns, places, isFirst }: Pick<WorkerParts, "isFirst"> & Pick<DiskStoreOptions, "turns" | "places">,
  log: Logger,
): Promise<OpenObjects> {
  const objects = objectStore(config, hmacKey, log, { turns, places });
  if (objects instanceof DiskStore) {
    if (isFirst) await objects.prepare();
    return { objects, routes: objectRoutes(objects) };
  }
  if (!isFirst) return { objects, routes: null };
  // Reported at the start, not by the first backup. A store that is unreachable at the moment does
  // not keep the service from starting.
  if (config.s3ObjectLockDays !== undefined && (await objects.locksObjects()) === false)
    throw new UserError(
      "invalid_setting",
      `ATTESTORE_S3_OBJECT_LOCK_DAYS is set, but the bucket ${config.s3Bucket} has no object lock. Unset it, or use a bucket created with object lock.`,
    );
  return { objects, routes: null };
}

/** The same, unchanged: also for a command beside a running service. */
export function objectStore(
  config: Config,
  hmacKey: Uint8Array,
  log: Logger,
  shared: Pick<DiskStoreOptions, "turns" | "places"> = {},
): DiskStore | S3Store {
  const {
    s3Bucket: bucket,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
    s3Region: region,
  } = config;
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return new DiskStore({
      directory: join(config.data, "objects"),
      publicUrl: config.publicUrl,
      hmacKey,
      singlePutLimitBytes: config.s3SinglePutLimit,
      partBytes: config.s3PartBytes,
      ...shared,
    });
  return new S3Store({
    endpoint: config.s3Endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    accessKeyId,
    secretAccessKey,
    sessionToken: config.s3SessionToken,
    pathStyle: config.s3PathStyle ?? config.s3Endpoint !== undefined,
    singlePutLimitBytes: config.s3SinglePutLimit,
    partBytes: config.s3PartBytes,
    objectLock:
      config.s3ObjectLockDays === undefined
        ? undefined
        : {
            mode: config.s3ObjectLockMode === "compliance" ? "COMPLIANCE" : "GOVERNANCE",
            days: config.s3ObjectLockDays,
          },
    log,
  });
}
