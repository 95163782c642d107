import type { Config } from "../../../config/config.ts";
import { readSecret } from "../../../secrets/read-secret.ts";
import { readPinnedCa } from "../../../transport/pinned-ca.ts";
import { PATIENT, type Backoff } from "../../../transport/backoff.ts";
import { downloadObject } from "../../../transport/download-object.ts";
import { ServiceError } from "../../../transport/service-error.ts";
import { objectConnections } from "../../../transport/tls-trust.ts";
import { uploadObject } from "../../../transport/upload-object.ts";
import type { BackupStore, StoredObject } from "../backup-store.ts";
import type { S3Location } from "../../../config/storage-config.ts";
import { uploadInParts } from "./upload-in-parts.ts";
import { EMPTY_SHA256, s3Client, type S3Client } from "../../../transport/s3-client.ts";

/** A larger object is sent in parts, so that a broken upload can continue. */
const SINGLE_PUT_BYTES = 64 * 1024 * 1024;

export interface S3StoreOptions {
  readonly backoff?: Backoff;
  readonly maxBytesPerSecond?: Config["upload"]["maxBytesPerSecond"];
  readonly singlePutBytes?: number;
}

/**
 * A bucket at Amazon, or at any store with S3 and Signature Version 4. @throws UserError if its
 * credentials are missing
 */
export async function s3Store(location: S3Location, options: S3StoreOptions = {}): Promise<BackupStore> {
  const connections = objectConnections(await readPinnedCa(location.caFile));
  const credentials = {
    accessKeyId: await readSecret(location.accessKeyId, "the S3 access key id"),
    secretAccessKey: await readSecret(location.secretAccessKey, "the S3 secret access key"),
  };
  const backoff = options.backoff ?? PATIENT;
  const client = s3Client(location, credentials, { connections, backoff });
  const maxBytesPerSecond = options.maxBytesPerSecond ?? null;
  return {
    where: `s3://${location.bucket}/${location.prefix}`,
    put: async (object, file, { signal, onProgress }) => {
      if ((await storedSize(client, object, signal)) === object.sizeBytes) return;
      const progress = (bytes: number): void => onProgress?.(bytes, object.sizeBytes);
      if (object.sizeBytes > (options.singlePutBytes ?? SINGLE_PUT_BYTES)) {
        await uploadInParts(client, object, file, { signal, onBytes: progress, maxBytesPerSecond });
      } else {
        const url = client.url(object.key);
        await uploadObject(connections, backoff, {
          url: url.href,
          // The digest is part of the signature: the store refuses other bytes.
          headers: () => client.sign("PUT", url, object.sha256),
          file,
          offset: 0,
          sizeBytes: object.sizeBytes,
          signal,
          onProgress: progress,
          maxBytesPerSecond,
        });
      }
      const size = await storedSize(client, object, signal);
      if (size !== object.sizeBytes)
        throw new ServiceError(
          "invalid_response",
          `${client.url("").host} accepted ${object.key} but now has ${size ?? "nothing"} instead of ${object.sizeBytes} bytes`,
        );
    },
    get: async (object, file, { signal, onProgress }) => {
      const url = client.url(object.key);
      await downloadObject(connections, backoff, {
        url: url.href,
        headers: () => client.sign("GET", url, EMPTY_SHA256),
        file,
        expectedBytes: object.sizeBytes,
        signal,
        onProgress: (bytes) => onProgress?.(bytes, object.sizeBytes),
      });
    },
    remove: async (object, signal) => {
      const url = client.url(object.key);
      await client.ask({ method: "DELETE", url, expected: [200, 204, 404], signal });
    },
    // Every multipart upload needs this permission, and it shows whether bucket and credentials are
    // right.
    examine: async (signal) => {
      await client.ask({ method: "GET", url: client.url("", { uploads: "" }), expected: [200], signal });
    },
    close: () => connections.destroy(),
  };
}

/** Null if it is missing. */
async function storedSize(
  client: S3Client,
  object: StoredObject,
  signal: AbortSignal,
): Promise<number | null> {
  const url = client.url(object.key);
  const { status, headers } = await client.ask({ method: "HEAD", url, expected: [200, 404], signal });
  return status === 404 ? null : Number(headers["content-length"]);
}
