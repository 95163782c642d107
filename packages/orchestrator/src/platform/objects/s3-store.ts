import { createHash } from "node:crypto";
import type { Logger } from "../logging/logger.ts";
import { isOwnKey, requireObjectKey } from "./object-key.ts";
import type {
  ListedObject,
  ObjectStore,
  PresignedGet,
  PresignedPut,
  PutRequest,
  StoredObject,
} from "./object-store.ts";
import { probeChecksums } from "./s3-checksums.ts";
import { S3Client } from "./s3-client.ts";
import { S3Files } from "./s3-files.ts";
import { listS3, OBJECTS } from "./s3-listing.ts";
import { S3Multipart } from "./s3-multipart.ts";
import { bucketLocksObjects, protectObject } from "./s3-object-lock.ts";
import type { ObjectLock } from "./s3-object-lock.ts";
import { S3Notes } from "./s3-notes.ts";
import { presignS3 } from "./s3-presign.ts";
import type { S3Settings } from "./s3-presign.ts";
import { removeObject } from "./s3-removal.ts";
import { SingleFlight } from "./single-flight.ts";

export interface S3StoreOptions extends S3Settings {
  log: Logger;
  /** 5 GiB by default, the most that S3 takes in one PUT. */
  singlePutLimitBytes?: number | undefined;
  /** Size of a part above that, 512 MiB by default. */
  partBytes?: number | undefined;
  /** How backups are locked when they are registered; not at all by default. */
  objectLock?: ObjectLock | undefined;
}

type Digest = { sizeBytes: number; sha256: string };

/** More than are ever between the reading of an object and its registration. */
const REMEMBERED_DIGESTS = 10_000;
const SHA256_BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** Any store with the S3 interface. Agents talk to it directly, with the URLs signed here. */
export class S3Store implements ObjectStore {
  readonly singlePutLimitBytes: number;
  readonly multipart: S3Multipart;
  readonly notes: S3Notes;
  readonly files: S3Files;
  readonly #settings: S3Settings;
  readonly #client: S3Client;
  readonly #log: Logger;
  readonly #objectLock: ObjectLock | undefined;
  readonly #reading = new SingleFlight<Digest | null>();
  /** Digests of objects that were read, by key and ETag, oldest first. */
  readonly #digests = new Map<string, string>();
  #checksums: Promise<boolean> | null = null;

  constructor({
    log,
    singlePutLimitBytes = 5 * 1024 ** 3,
    partBytes = 512 * 1024 ** 2,
    objectLock,
    ...settings
  }: S3StoreOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#objectLock = objectLock;
    this.#client = new S3Client(settings, log);
    this.notes = new S3Notes(this.#client, log);
    this.files = new S3Files(this.#client);
    this.singlePutLimitBytes = singlePutLimitBytes;
    this.multipart = new S3Multipart(settings, this.#client, partBytes);
  }

  async presignPut({ key, sizeBytes, sha256, expiresInSeconds }: PutRequest): Promise<PresignedPut> {
    requireObjectKey(key);
    const signedAt = new Date();
    const headers = {
      "content-length": String(sizeBytes),
      "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64"),
    };
    const url = await presignS3(this.#settings, { method: "PUT", key, headers }, expiresInSeconds, signedAt);
    return { url, method: "PUT", headers, expiresAt: after(signedAt, expiresInSeconds) };
  }

  async presignGet({
    key,
    expiresInSeconds,
  }: {
    key: string;
    expiresInSeconds: number;
  }): Promise<PresignedGet> {
    requireObjectKey(key);
    const signedAt = new Date();
    const url = await presignS3(this.#settings, { method: "GET", key }, expiresInSeconds, signedAt);
    return { url, expiresAt: after(signedAt, expiresInSeconds) };
  }

  async head(key: string): Promise<StoredObject | null> {
    requireObjectKey(key);
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    const response = await this.#client.call({ method: "HEAD", key, headers }, [200, 404]);
    if (response.status === 404) return null;
    const sizeBytes = Number(response.headers.get("content-length"));
    const read = this.#digests.get(digestName(key, response.headers));
    if (read !== undefined) return { sizeBytes, sha256: read };
    // A composite checksum of a multipart upload ends in the number of its parts, and is not the
    // checksum of the bytes.
    const checksum = response.headers.get("x-amz-checksum-sha256") ?? "";
    const isVouchedFor = SHA256_BASE64.test(checksum) && (await this.#verifiesChecksums());
    return { sizeBytes, sha256: isVouchedFor ? Buffer.from(checksum, "base64").toString("hex") : null };
  }

  hash(key: string): Promise<Digest | null> {
    requireObjectKey(key);
    return this.#reading.do(key, () => this.#read(key));
  }

  async #read(key: string): Promise<Digest | null> {
    const response = await this.#client.open({ method: "GET", key }, [200, 404]);
    if (response.status === 404) return null;
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const chunk of response.body ?? []) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    const sha256 = hash.digest("hex");
    // The ETag identifies the bytes that came: another object under this key has another ETag.
    if (response.headers.has("etag")) this.#digests.set(digestName(key, response.headers), sha256);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > REMEMBERED_DIGESTS && oldest !== undefined) this.#digests.delete(oldest);
    return { sizeBytes, sha256 };
  }

  async remove(key: string): Promise<"removed" | "retained"> {
    requireObjectKey(key);
    return removeObject(this.#client, key, this.#log);
  }

  async protect(key: string): Promise<void> {
    requireObjectKey(key);
    if (this.#objectLock !== undefined) await protectObject(this.#client, key, this.#objectLock, new Date());
  }

  /** Whether the bucket locks objects; null if the store can't be asked at the moment. */
  locksObjects(): Promise<boolean | null> {
    return bucketLocksObjects(this.#client);
  }

  async *list(prefix = ""): AsyncIterable<ListedObject> {
    for await (const { key, text } of listS3(this.#client, OBJECTS, prefix)) {
      const modifiedAt = new Date(text("LastModified") ?? Number.NaN);
      // If the store gives no time, the object counts as new: its age decides about its removal.
      const isDated = !Number.isNaN(modifiedAt.getTime());
      if (isOwnKey(key))
        yield { key, sizeBytes: Number(text("Size")), modifiedAt: isDated ? modifiedAt : new Date() };
    }
  }

  #verifiesChecksums(): Promise<boolean> {
    this.#checksums ??= probeChecksums(this.#client, (key) => this.remove(key)).catch((error: unknown) => {
      this.#checksums = null;
      throw error;
    });
    return this.#checksums;
  }
}

function digestName(key: string, headers: Headers): string {
  return `${key} ${headers.get("content-length")} ${headers.get("etag")}`;
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}
