import type { Logger } from "../logging/logger.ts";
import { requireObjectKey } from "./object-key.ts";
import type { S3Client } from "./s3-client.ts";
import { listS3, OBJECTS } from "./s3-listing.ts";
import { removeObject, removeOldVersions } from "./s3-removal.ts";
import type { ServiceNotes } from "./service-notes.ts";

/** No key of a backup begins with this. */
const PREFIX = "attestore/";

/** Small objects of the bucket. */
export class S3Notes implements ServiceNotes {
  readonly #client: S3Client;
  readonly #log: Logger;

  constructor(client: S3Client, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  async read(name: string): Promise<string | null> {
    const response = await this.#client.call({ method: "GET", key: keyOf(name) }, [200, 404]);
    return response.status === 404 ? null : response.text;
  }

  async write(name: string, text: string): Promise<void> {
    const key = keyOf(name);
    const headers = { "content-type": "application/json" };
    const response = await this.#client.call({ method: "PUT", key, headers, body: text }, [200]);
    // In a bucket with versions each one would be kept, and billed, for ever.
    if (response.headers.has("x-amz-version-id")) await removeOldVersions(this.#client, key, this.#log);
  }

  async remove(name: string): Promise<void> {
    await removeObject(this.#client, keyOf(name), this.#log);
  }

  async *list(prefix: string): AsyncIterable<string> {
    for await (const { key } of listS3(this.#client, OBJECTS, PREFIX + prefix))
      yield key.slice(PREFIX.length);
  }
}

function keyOf(name: string): string {
  const key = PREFIX + name;
  requireObjectKey(key);
  return key;
}
