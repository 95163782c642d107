import type { IncomingMessage } from "node:http";
import { ApiError } from "../errors/api-error.ts";
import type { Places } from "../workers/places.ts";

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

/**
 * Counts an upload among those of its organisation. Keys begin with its id.
 * @returns what ends that
 * @throws ApiError `rate_limited`
 */
export async function takeUploadPlace(places: Places, key: string): Promise<() => void> {
  const name = `uploads of ${key.slice(0, key.indexOf("/"))}`;
  const taken = await places.take([{ name, amount: 1, limit: MOST_OF_ORG }]);
  if ("full" in taken)
    throw new ApiError(
      "rate_limited",
      `${MOST_OF_ORG} uploads of this organisation are in progress. Try again when one of them has finished.`,
      { retry_after_s: 5 },
      { "retry-after": "5" },
    );
  return () => taken.release();
}
