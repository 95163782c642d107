import { setTimeout as delay } from "node:timers/promises";
import { fetchMessage } from "@attestore/host/errno";
import type { Logger } from "../logging/logger.ts";
import { unavailable } from "../errors/api-error.ts";
import { readAnswer, readBytes, readRefusal } from "./bounded-answer.ts";
import { signS3 } from "./s3-presign.ts";
import type { S3Request, S3Settings } from "./s3-presign.ts";

const TRIES = 4;
const FIRST_PAUSE_MS = 100;
/** For a whole answer; of an object, until it begins: its bytes may take as long as they move. */
const ANSWER_WITHIN_MS = 30_000;

export interface S3Call extends S3Request {
  body?: string | Uint8Array;
  /** For calls that may take the store longer than usual. */
  answerWithinMs?: number;
}

export interface S3Answer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * The service's own calls to the store. Temporary failures (no connection, 429, 5xx) are tried
 * again; all calls may be repeated.
 */
export class S3Client {
  readonly #settings: S3Settings;
  readonly #log: Logger;

  constructor(settings: S3Settings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /**
   * A request with a short answer.
   * @param expected the statuses that count as answers; any other is the store's failure
   * @throws ApiError `unavailable`; the store's message is only in the log
   */
  call(request: S3Call, expected: number[]): Promise<S3Answer> {
    return this.#retry(request, expected, async (response) => {
      const { status, headers } = response;
      return { status, headers, text: await readAnswer(response) };
    });
  }

  /**
   * The same for a part of an object: no more than `most` bytes, or the beginning of a refusal.
   * What breaks off or stalls is tried again.
   */
  part(request: S3Call, expected: number[], most: number): Promise<{ status: number; bytes: Buffer }> {
    return this.#retry(request, expected, async (response) => ({
      status: response.status,
      bytes: response.ok ? await readBytes(response, most) : Buffer.from(await readRefusal(response)),
    }));
  }

  /** The same for an object, whose bytes come as a stream. */
  open(request: S3Call, expected: number[]): Promise<Response> {
    return this.#retry(request, expected, async (response) => response);
  }

  async #retry<T>(request: S3Call, expected: number[], take: (response: Response) => Promise<T>): Promise<T> {
    let problem = "";
    let isRefused = false;
    for (let attempt = 1; attempt <= TRIES && !isRefused; attempt += 1) {
      if (attempt > 1) await delay(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
      const deadline = within(request.answerWithinMs ?? ANSWER_WITHIN_MS);
      try {
        const response = await this.#send(request, deadline.signal);
        if (expected.includes(response.status)) return await take(response);
        problem = `${response.status} ${(await readRefusal(response)).slice(0, 500)}`;
        isRefused = response.status < 500 && response.status !== 429;
      } catch (error) {
        problem = fetchMessage(error);
      } finally {
        deadline.end();
      }
    }
    this.#log.error({ method: request.method, key: request.key, problem }, "the object store failed");
    throw unavailable(
      isRefused
        ? "The object store refuses the service's requests. The service's log has its answer."
        : "The service cannot reach its object store right now.",
    );
  }

  async #send(request: S3Call, signal: AbortSignal): Promise<Response> {
    const { url, headers } = await signS3(this.#settings, request);
    const init = { method: request.method, headers, signal, redirect: "error" as const };
    return await fetch(url, request.body === undefined ? init : { ...init, body: request.body as BodyInit });
  }
}

function within(ms: number): { signal: AbortSignal; end: () => void } {
  const aborting = new AbortController();
  const timer = setTimeout(() => aborting.abort(new Error("the object store did not answer in time")), ms);
  return { signal: aborting.signal, end: () => clearTimeout(timer) };
}
