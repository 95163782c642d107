import { createHash, randomBytes } from "node:crypto";
import type { Logger } from "../logging/logger.ts";
import { requireObjectKey } from "./object-key.ts";
import type {
  ListedObject,
  MultipartUploads,
  ObjectStore,
  PresignedGet,
  PresignedPut,
  PutRequest,
  StoredObject,
} from "./object-store.ts";
import { S3Client } from "./s3-client.ts";
import { S3Multipart } from "./s3-multipart.ts";
import { presignS3 } from "./s3-presign.ts";
import type { S3Settings } from "./s3-presign.ts";
import { xmlElements, xmlText } from "./s3-xml.ts";

export interface S3StoreOptions extends S3Settings {
  log: Logger;
  /** 5 GiB unless told: the most that S3 takes in one PUT. */
  singlePutLimitBytes?: number | undefined;
  /** Size of a part above that, 512 MiB unless told. */
  partBytes?: number | undefined;
}

const SHA256_BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** Any store with the S3 interface. Agents speak to it directly, with the URLs signed here. */
export class S3Store implements ObjectStore {
  readonly singlePutLimitBytes: number;
  readonly multipart: MultipartUploads;
  readonly #settings: S3Settings;
  readonly #client: S3Client;
  #checksums: Promise<boolean> | null = null;

  constructor({
    log,
    singlePutLimitBytes = 5 * 1024 ** 3,
    partBytes = 512 * 1024 ** 2,
    ...settings
  }: S3StoreOptions) {
    this.#settings = settings;
    this.#client = new S3Client(settings, log);
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
    // A composite checksum of a multipart upload ends in the number of its parts, and is not that of the bytes.
    const checksum = response.headers.get("x-amz-checksum-sha256") ?? "";
    const isVouchedFor = SHA256_BASE64.test(checksum) && (await this.#verifiesChecksums());
    return { sizeBytes, sha256: isVouchedFor ? Buffer.from(checksum, "base64").toString("hex") : null };
  }

  async hash(key: string): Promise<{ sizeBytes: number; sha256: string } | null> {
    requireObjectKey(key);
    const response = await this.#client.call({ method: "GET", key }, [200, 404]);
    if (response.status === 404) return null;
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const chunk of response.body ?? []) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    return { sizeBytes, sha256: hash.digest("hex") };
  }

  async delete(key: string): Promise<void> {
    requireObjectKey(key);
    await this.#client.call({ method: "DELETE", key }, [200, 204, 404]);
  }

  async *list(prefix: string): AsyncIterable<ListedObject> {
    for (let token: string | null = ""; token !== null;) {
      const query = {
        "list-type": "2",
        "encoding-type": "url",
        prefix,
        ...(token === "" ? {} : { "continuation-token": token }),
      };
      const response = await this.#client.call({ method: "GET", key: "", query }, [200]);
      const xml = await response.text();
      for (const element of xmlElements(xml, "Contents")) {
        const key = decodeURIComponent((xmlText(element, "Key") ?? "").replaceAll("+", " "));
        const modifiedAt = new Date(xmlText(element, "LastModified") ?? 0);
        yield { key, sizeBytes: Number(xmlText(element, "Size")), modifiedAt };
      }
      token = xmlText(xml, "IsTruncated") === "true" ? xmlText(xml, "NextContinuationToken") : null;
    }
  }

  /**
   * Some stores repeat the SHA-256 that they were told without looking at the bytes. So the first time that it matters the store is
   * offered an object with a right one and then with a wrong one: only a store that takes the first and refuses the second is believed.
   */
  #verifiesChecksums(): Promise<boolean> {
    this.#checksums ??= this.#probeChecksums().catch((error: unknown) => {
      this.#checksums = null;
      throw error;
    });
    return this.#checksums;
  }

  async #probeChecksums(): Promise<boolean> {
    const key = `checksum-probe/${randomBytes(8).toString("hex")}`;
    const put = async (hashed: string): Promise<number> => {
      const headers = { "x-amz-checksum-sha256": createHash("sha256").update(hashed).digest("base64") };
      return (await this.#client.call({ method: "PUT", key, headers, body: "probe" }, [200, 400])).status;
    };
    const [right, wrong] = [await put("probe"), await put("other bytes")];
    await this.delete(key);
    return right === 200 && wrong === 400;
  }
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}
