import { requireObjectKey } from "./object-key.ts";
import type { S3Client } from "./s3-client.ts";
import type { ByteRange, ServiceFiles } from "./service-files.ts";

/** The notes are below it too. No key of a backup begins with this. */
const PREFIX = "attestore/";
/** A file has up to 64 MiB. */
const WRITTEN_WITHIN_MS = 120_000;

/** Objects of the bucket. */
export class S3Files implements ServiceFiles {
  readonly #client: S3Client;

  constructor(client: S3Client) {
    this.#client = client;
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const headers = { "content-type": "application/json" };
    await this.#client.call(
      { method: "PUT", key: keyOf(name), headers, body: bytes, answerWithinMs: WRITTEN_WITHIN_MS },
      [200],
    );
  }

  async read(name: string, { start, length }: ByteRange): Promise<Buffer | null> {
    const headers = { range: `bytes=${start}-${start + length - 1}` };
    // 416: the file ends before. 200: a store that knows no ranges sends all of it.
    const response = await this.#client.open(
      { method: "GET", key: keyOf(name), headers },
      [200, 206, 404, 416],
    );
    const isWhole = response.status === 200;
    if (!isWhole && response.status !== 206) {
      await response.body?.cancel();
      return null;
    }
    const bytes = await readUpTo(response, isWhole ? start + length : length);
    const wanted = isWhole ? bytes.subarray(start) : bytes;
    return wanted.length === length ? wanted : null;
  }
}

async function readUpTo({ body }: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}

function keyOf(name: string): string {
  const key = PREFIX + name;
  requireObjectKey(key);
  return key;
}
