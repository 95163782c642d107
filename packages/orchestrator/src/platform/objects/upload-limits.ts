import type { IncomingMessage } from "node:http";
import { ApiError } from "../errors/api-error.ts";

/**
 * How many bytes an upload has to bring in this time: room on the disk is reserved for everything
 * that it announced.
 */
const WINDOW_MS = 30_000;
const LEAST_BYTES = 128 * 1024;
/** Uploads of one organisation at once. An agent sends one object after the other. */
const MOST_OF_ORG = 32;

/**
 * Destroys an upload that is slower than 4 KiB a second, until its body has ended.
 * @returns what ends the watch
 */
export function requireRate(
  raw: IncomingMessage,
  within = { window_ms: WINDOW_MS, bytes: LEAST_BYTES },
): () => void {
  const { socket } = raw;
  let before = socket.bytesRead;
  const timer = setInterval(() => {
    const brought = socket.bytesRead - before;
    before = socket.bytesRead;
    if (brought < within.bytes && !raw.complete) raw.destroy(new Error("the upload was too slow"));
  }, within.window_ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** How many uploads of an organisation are being received. Keys begin with its id. */
export class UploadTurns {
  readonly #running = new Map<string, number>();

  /**
   * @returns what ends the turn
   * @throws ApiError `rate_limited`
   */
  begin(key: string): () => void {
    const org = key.slice(0, key.indexOf("/"));
    const running = this.#running.get(org) ?? 0;
    if (running >= MOST_OF_ORG)
      throw new ApiError(
        "rate_limited",
        `${MOST_OF_ORG} uploads of this organisation are in progress. Try again when one of them has finished.`,
        { retry_after_s: 5 },
        { "retry-after": "5" },
      );
    this.#running.set(org, running + 1);
    return () => {
      const left = (this.#running.get(org) ?? 1) - 1;
      if (left === 0) this.#running.delete(org);
      else this.#running.set(org, left);
    };
  }
}
