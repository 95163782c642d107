import { unavailable } from "../errors/api-error.ts";
import { requireObjectKey } from "./object-key.ts";
import type { S3Client } from "./s3-client.ts";
import type { ByteRange, ServiceFiles } from "./service-files.ts";

/** The notes are below it too. No key of a backup begins with this. */
const PREFIX = "attestore/";
/** A file has up to 64 MiB. */
const TRANSFERRED_WITHIN_MS = 120_000;

/** Objects of the bucket. */
export class S3Files implements ServiceFiles {
  readonly #client: S3Client;

  constructor(client: S3Client) {
    this.#client = client;
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const headers = { "content-type": "application/json" };
    await this.#client.call(
      { method: "PUT", key: keyOf(name), headers, body: bytes, answerWithinMs: TRANSFERRED_WITHIN_MS },
      [200],
    );
  }

  async read(name: string, { start, length }: ByteRange): Promise<Buffer | null> {
    const { status, bytes } = await this.#client.part(
      {
        method: "GET",
        key: keyOf(name),
        headers: { range: `bytes=${start}-${start + length - 1}` },
        answerWithinMs: TRANSFERRED_WITHIN_MS,
      },
      // 416: the file ends before. 200: a store that knows no ranges sends all of it.
      [200, 206, 404, 416],
      start + length,
    );
    if (status === 404 && bytes.includes("NoSuchBucket"))
      throw unavailable("The service's bucket does not exist.");
    if (status !== 200 && status !== 206) return null;
    const wanted = status === 200 ? bytes.subarray(start) : bytes.subarray(0, length);
    return wanted.length === length ? wanted : null;
  }
}

function keyOf(name: string): string {
  const key = PREFIX + name;
  requireObjectKey(key);
  return key;
}
