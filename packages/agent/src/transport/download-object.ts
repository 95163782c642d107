import { open, type FileHandle } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request, type Agent } from "node:https";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDiskFull } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";
import { backoffDelay, type Backoff } from "./backoff.ts";
import { connectionError, refuseUpgrade } from "./exchange.ts";
import { watchPace } from "./pace.ts";
import { requireHttps } from "./object-url.ts";
import { isTransient, ServiceError } from "./service-error.ts";
import { REFUSAL_BYTES, storeRefusal } from "./store-refusal.ts";

export interface DownloadRequest {
  /** Presigned, so it is a credential and never part of a message. */
  readonly url: string;
  /** Made for each request. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  /** Created, or emptied. */
  readonly file: string;
  /**
   * Reads at most one byte more than this, which is enough for a wrong digest, whatever the store
   * sends.
   */
  readonly expectedBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (receivedBytes: number) => void;
}

const IDLE_MS = 60_000;
/**
 * Downloads an object to a file. A broken connection continues where it broke. The content is not
 * checked here: whoever uses the file compares its digest.
 * @throws ServiceError `object_refused` with the store's status, 404 if the object is missing;
 * RunError `disk_full`
 */
export async function downloadObject(
  connections: Agent,
  backoff: Backoff,
  download: DownloadRequest,
): Promise<void> {
  const url = requireHttps(download.url);
  const file = await open(download.file, "w", 0o600);
  try {
    const state: Received = { bytes: 0, etag: null };
    for (let attempt = 1; ;) {
      const before = state.bytes;
      try {
        await receive(connections, url, file, state, download);
        return;
      } catch (error) {
        download.signal.throwIfAborted();
        if (error instanceof RunError) throw error;
        const failure = error instanceof ServiceError ? error : connectionError(url, error);
        // Tries only count while almost nothing arrives, so a long download over a bad line gets
        // there.
        attempt = state.bytes > before && failure.code !== "timeout" ? 1 : attempt + 1;
        if (!isTransient(failure) || attempt > backoff.tries) throw failure;
        await pause(backoffDelay(backoff, attempt, failure.retryAfter_s), undefined, {
          signal: download.signal,
        });
      }
    }
  } finally {
    await file.close();
  }
}

interface Received {
  bytes: number;
  /** From the first answer; with a strong one the store can say that the object has changed. */
  etag: string | null;
}

async function receive(
  connections: Agent,
  url: URL,
  file: FileHandle,
  state: Received,
  { headers: own, file: path, expectedBytes, signal, onProgress }: DownloadRequest,
): Promise<void> {
  const headers: Record<string, string> = { ...(await own?.()) };
  if (state.bytes > 0) {
    headers["range"] = `bytes=${state.bytes}-`;
    if (state.etag !== null) headers["if-range"] = state.etag;
  }
  const incoming = await get(connections, url, headers, signal);
  const pace = watchPace(
    "download",
    () => state.bytes,
    (error) => incoming.destroy(error),
  );
  try {
    const status = incoming.statusCode ?? 0;
    if (status !== 200 && status !== 206) {
      throw storeRefusal(url, { status, body: await beginningOf(incoming) }, "download");
    }
    if (status === 206 && !incoming.headers["content-range"]?.startsWith(`bytes ${state.bytes}-`))
      throw new ServiceError("invalid_response", `${url.host} sent another range than requested`, {
        status: 206,
      });
    // Without the range, or if the object changed, it starts again.
    if (status === 200) {
      state.bytes = 0;
      await file.truncate(0);
    }
    const { etag } = incoming.headers;
    state.etag = etag !== undefined && !etag.startsWith("W/") ? etag : null;
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      const wanted = Math.min(expectedBytes + 1 - state.bytes, chunk.length);
      await writeWhole(file, chunk.subarray(0, wanted), state.bytes).catch((error: unknown) => {
        throw isDiskFull(error) ? noRoom(path, error) : error;
      });
      state.bytes += wanted;
      onProgress?.(state.bytes);
      if (state.bytes > expectedBytes) return;
    }
  } finally {
    pace.end();
    incoming.destroy();
  }
}

/** Whatever becomes of the rest: the status alone is a refusal. */
async function beginningOf(incoming: AsyncIterable<Buffer>): Promise<Buffer> {
  let body = Buffer.alloc(0);
  try {
    for await (const chunk of incoming) {
      body = Buffer.concat([body, chunk]);
      if (body.length >= REFUSAL_BYTES) break;
    }
  } catch {
    // The caller looks whether it was told to stop.
  }
  return body;
}

/** A disk that fills up writes a part, and only reports it at the next write. */
async function writeWhole(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

function noRoom(path: string, cause: unknown): RunError {
  return new RunError("disk_full", `no room left in ${dirname(path)} for the download: give it more`, {
    cause,
  });
}

function get(
  connections: Agent,
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "GET", agent: connections, headers, signal }, (incoming) => {
      pace.end();
      resolve(incoming);
    });
    // Only the end of the answer's head matters.
    const pace = watchPace(
      "answer",
      () => 0,
      (error) => outgoing.destroy(error),
    );
    outgoing.on("error", reject);
    outgoing.once("close", pace.end);
    refuseUpgrade(outgoing, reject);
    outgoing.setTimeout(IDLE_MS, () => outgoing.destroy(new Error(`silent for ${IDLE_MS / 1000} s`)));
    outgoing.end();
  });
}
