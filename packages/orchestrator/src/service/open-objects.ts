import { join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import type { Config } from "../platform/config/read-config.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { DiskStore } from "../platform/objects/disk-store.ts";
import { objectRoutes } from "../platform/objects/object-routes.ts";
import type { ObjectStore } from "../platform/objects/object-store.ts";
import { S3Store } from "../platform/objects/s3-store.ts";

export interface OpenObjects {
  objects: ObjectStore;
  /** The routes behind the store's URLs; null where agents speak to another host. */
  routes: FastifyPluginAsync | null;
}

/** The object store of the settings: S3 if there is a bucket, or else the disk. */
export async function openObjects(config: Config, hmacKey: Uint8Array, log: Logger): Promise<OpenObjects> {
  const {
    s3Bucket: bucket,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
    s3Region: region,
  } = config;
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    const store = new DiskStore({
      directory: join(config.data, "objects"),
      publicUrl: config.publicUrl,
      hmacKey,
    });
    await store.prepare();
    return { objects: store, routes: objectRoutes(store) };
  }
  const objects = new S3Store({
    endpoint: config.s3Endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    accessKeyId,
    secretAccessKey,
    sessionToken: config.s3SessionToken,
    pathStyle: config.s3PathStyle ?? config.s3Endpoint !== undefined,
    singlePutLimitBytes: config.s3SinglePutLimit,
    partBytes: config.s3PartBytes,
    log,
  });
  return { objects, routes: null };
}
