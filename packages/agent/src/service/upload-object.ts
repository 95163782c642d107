import { createReadStream } from "node:fs";
import { request, type Agent } from "node:https";
import { pipeline } from "node:stream/promises";
import { retrying, type Backoff } from "./backoff.ts";
import { connectionError } from "./exchange.ts";
import { requireHttps } from "./object-url.ts";
import { ServiceError } from "./service-error.ts";
import { throttled } from "./throttle.ts";

export interface UploadRequest {
  /** Presigned. It is a credential: never logged, never part of a message. */
  readonly url: string;
  /** Or how to make them, for each try anew: a signature may hold the time. */
  readonly headers: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  readonly file: string;
  /** The part of the file to send. */
  readonly offset: number;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
  readonly maxBytesPerSecond?: number | null;
  /** Bytes of this upload sent so far; starts again at 0 when a try is repeated. */
  readonly onProgress?: (sentBytes: number) => void;
}

/** How long a connection may be silent. */
const IDLE_MS = 60_000;

/**
 * Streams a part of a file to a presigned PUT URL. @returns its ETag.
 * @throws ServiceError `object_refused` with the store's status, for instance 403 when the URL has run out
 */
export async function uploadObject(
  connections: Agent,
  backoff: Backoff,
  upload: UploadRequest,
): Promise<string | null> {
  const url = requireHttps(upload.url);
  return retrying(backoff, upload.signal, () => put(connections, url, upload));
}

function headersOf({ headers }: UploadRequest): Readonly<Record<string, string>> {
  return typeof headers === "function" ? headers() : headers;
}

async function put(connections: Agent, url: URL, upload: UploadRequest): Promise<string | null> {
  const { sizeBytes, offset, signal } = upload;
  const outgoing = request(url, {
    method: "PUT",
    agent: connections,
    signal,
    // A stream without a length would go chunked, which object stores refuse.
    headers: { ...headersOf(upload), "content-length": sizeBytes },
  });
  const answered = new Promise<{ status: number; etag: string | null }>((resolve, reject) => {
    outgoing.on("response", (incoming) => {
      const { etag } = incoming.headers;
      incoming.on("error", reject);
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, etag: etag ?? null }));
      incoming.resume();
    });
    outgoing.on("error", reject);
    outgoing.setTimeout(IDLE_MS, () => outgoing.destroy(new Error(`silent for ${IDLE_MS / 1000} s`)));
  });
  let sent = 0;
  const body = createReadStream(upload.file, { start: offset, end: offset + sizeBytes - 1 });
  const sending = pipeline(
    body,
    async function* count(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of throttled(chunks, upload.maxBytesPerSecond ?? null, signal)) {
        yield chunk;
        sent += chunk.length;
        upload.onProgress?.(sent);
      }
    },
    outgoing,
  );
  try {
    // A store that refuses may answer, and close, before it has read the body: its answer says more than the broken pipe.
    const { status, etag } = await Promise.race([answered, sending.then(() => answered)]).catch(
      () => answered,
    );
    if (status >= 200 && status < 300) {
      await sending;
      return etag;
    }
    throw new ServiceError(
      "object_refused",
      `the object store ${url.host} refused the upload (status ${status})`,
      {
        status,
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ServiceError ? error : connectionError(url, error);
  } finally {
    outgoing.destroy();
    body.destroy();
    await sending.catch(() => undefined);
    await answered.catch(() => undefined);
  }
}
