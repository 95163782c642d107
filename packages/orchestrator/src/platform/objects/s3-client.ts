import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import type { Logger } from "../logging/logger.ts";
import { unavailable } from "../errors/api-error.ts";
import { signS3 } from "./s3-presign.ts";
import type { S3Request, S3Settings } from "./s3-presign.ts";

const TRIES = 4;
const FIRST_PAUSE_MS = 100;
/** Until the answer begins; the body may take as long as it keeps moving. */
const ANSWER_WITHIN_MS = 30_000;

export interface S3Call extends S3Request {
  body?: string;
  /** For calls that may take the store longer than usual. */
  answerWithinMs?: number;
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
   * @param expected the statuses that count as answers; any other is the store's failure
   * @throws ApiError `unavailable`; the store's message is only in the log
   */
  async call(request: S3Call, expected: number[]): Promise<Response> {
    let problem = "";
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      if (attempt > 1) await delay(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
      try {
        const response = await this.#send(request);
        if (expected.includes(response.status)) return response;
        problem = `${response.status} ${(await response.text()).slice(0, 500)}`;
        if (response.status < 500 && response.status !== 429) break;
      } catch (error) {
        problem = errorMessage(error instanceof Error && error.cause !== undefined ? error.cause : error);
      }
    }
    this.#log.error({ method: request.method, key: request.key, problem }, "the object store failed");
    throw unavailable("The service cannot reach its object store right now.");
  }

  async #send(request: S3Call): Promise<Response> {
    const { url, headers } = await signS3(this.#settings, request);
    const aborting = new AbortController();
    const timer = setTimeout(
      () => aborting.abort(new Error("the object store did not answer in time")),
      request.answerWithinMs ?? ANSWER_WITHIN_MS,
    );
    try {
      const init = { method: request.method, headers, signal: aborting.signal, redirect: "error" as const };
      return await fetch(url, request.body === undefined ? init : { ...init, body: request.body });
    } finally {
      clearTimeout(timer);
    }
  }
}
