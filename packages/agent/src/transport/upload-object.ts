import { createReadStream } from "node:fs";
import type { ClientRequest } from "node:http";
import { request, type Agent } from "node:https";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { retrying, type Backoff } from "./backoff.ts";
import { connectionError, refuseUpgrade } from "./exchange.ts";
import { watchPace } from "./pace.ts";
import { requireHttps } from "./object-url.ts";
import { ServiceError } from "./service-error.ts";
import { REFUSAL_BYTES, storeRefusal } from "./store-refusal.ts";
import { throttled } from "./throttle.ts";

export interface UploadRequest {
  /** Presigned, so it is a credential: never logged, never part of a message. */
  readonly url: string;
  /** Or how to make them for each try: a signature may contain the time. */
  readonly headers: Readonly<Record<string, string>> | (() => Promise<Readonly<Record<string, string>>>);
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
/** How long the store may take to say whether it wants the body. */
const CONTINUE_WITHIN_MS = 1000;

/**
 * Streams a part of a file to a presigned PUT URL. @returns its ETag.
 * @throws ServiceError `object_refused` with the store's status, for example 403 if the URL has
 * expired
 */
export async function uploadObject(
  connections: Agent,
  backoff: Backoff,
  upload: UploadRequest,
): Promise<string | null> {
  const url = requireHttps(upload.url);
  return retrying(backoff, upload.signal, () => put(connections, url, upload));
}

async function headersOf({ headers }: UploadRequest): Promise<Readonly<Record<string, string>>> {
  return typeof headers === "function" ? headers() : headers;
}

interface StoreAnswer {
  status: number;
  /** Its beginning: of a refusal, all of it. */
  body: Buffer;
  etag: string | null;
}

async function put(connections: Agent, url: URL, upload: UploadRequest): Promise<string | null> {
  const { sizeBytes, signal } = upload;
  const outgoing = request(url, {
    method: "PUT",
    agent: connections,
    signal,
    // A stream without a length would be sent chunked, which object stores refuse.
    headers: { ...(await headersOf(upload)), "content-length": sizeBytes, expect: "100-continue" },
  });
  const answered = new Promise<StoreAnswer>((resolve, reject) => {
    outgoing.on("response", (incoming) => {
      const { statusCode: status = 0, headers } = incoming;
      let body = Buffer.alloc(0);
      incoming.on("data", (chunk: Buffer) => {
        if (body.length < REFUSAL_BYTES) body = Buffer.concat([body, chunk]);
      });
      const answer = (): void => resolve({ status, etag: headers.etag ?? null, body });
      incoming.on("end", answer);
      // The status alone is a refusal, whatever becomes of the rest.
      incoming.on("error", (error) => (isSuccess(status) ? reject(error) : answer()));
    });
    outgoing.on("error", reject);
    refuseUpgrade(outgoing, reject);
    outgoing.setTimeout(IDLE_MS, () => outgoing.destroy(new Error(`silent for ${IDLE_MS / 1000} s`)));
  });
  let sending: Promise<void> | null = null;
  let [given, sent] = [0, 0];
  let isSent = false;
  // After the last byte, only the answer is missing.
  const pace = watchPace(
    "upload",
    () => sent,
    (error) => outgoing.destroy(isSent ? new ServiceError("timeout", "no answer came to the upload") : error),
  );
  try {
    const early = await answerBeforeBody(outgoing, answered);
    if (early !== null) throw storeRefusal(url, early, "upload");
    sending = sendBody(outgoing, upload, {
      onGiven: (bytes) => (given = bytes),
      onSent: (bytes) => (sent = bytes),
    }).then(() => void (isSent = true));
    // A store that refuses may answer and close before it has read the body: its answer says more
    // than the broken pipe.
    const answer = await Promise.race([answered, sending.then(() => answered)]).catch(() => answered);
    if (!isSuccess(answer.status)) throw storeRefusal(url, answer, "upload");
    // A store that answers at the last byte and closes the connection may do so before Node knows
    // that there is no more to send. Then the body was not cut: the store has all of it.
    await sending.catch((error: unknown) => {
      if (given < sizeBytes) throw error;
    });
    return answer.etag;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ServiceError ? error : connectionError(url, error);
  } finally {
    pace.end();
    outgoing.destroy();
    await sending?.catch(() => undefined);
    await answered.catch(() => undefined);
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * The store's answer before it wants the body, such as the reason of a refusal: while the body is
 * being sent, the connection may be reset before the answer is read. Null if the body should be
 * sent: the store said so (RFC 9110, section 10.1.1), or said nothing, as stores do that do not
 * know the question.
 */
async function answerBeforeBody(
  outgoing: ClientRequest,
  answered: Promise<StoreAnswer>,
): Promise<StoreAnswer | null> {
  const enough = new AbortController();
  const told = new Promise<null>((resolve) => outgoing.once("continue", () => resolve(null)));
  // From when the connection is established: nobody can say anything before that.
  const silent = new Promise<null>((resolve) => {
    outgoing.once("socket", (socket: Socket) => {
      const wait = (): void => {
        void pause(CONTINUE_WITHIN_MS, null, { signal: enough.signal }).then(resolve, () => undefined);
      };
      if (socket.connecting) socket.once("secureConnect", wait);
      else wait();
    });
  });
  outgoing.flushHeaders();
  try {
    return await Promise.race([answered, told, silent]);
  } finally {
    enough.abort();
  }
}

async function sendBody(
  outgoing: ClientRequest,
  upload: UploadRequest,
  { onGiven, onSent }: Record<"onGiven" | "onSent", (bytes: number) => void>,
): Promise<void> {
  const { file, offset, sizeBytes, signal, maxBytesPerSecond = null, onProgress } = upload;
  let bytes = 0;
  await pipeline(
    createReadStream(file, { start: offset, end: offset + sizeBytes - 1 }),
    async function* count(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of throttled(chunks, maxBytesPerSecond, signal)) {
        bytes += chunk.length;
        onGiven(bytes);
        yield chunk;
        onSent(bytes);
        onProgress?.(bytes);
      }
    },
    outgoing,
  );
}
