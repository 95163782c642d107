import { ServiceError } from "./service-error.ts";

/**
 * Fewer bytes than this in a minute are not a transfer: an object store that sends or takes a byte
 * now and then would keep us for ever.
 */
const LEAST_BYTES = 16 * 1024;
const WITHIN_MS = 60_000;

/** Checks the number of bytes once a minute. Calls `stop` once if they come too slowly. */
export function watchPace(
  what: string,
  bytes: () => number,
  stop: (error: ServiceError) => void,
): { readonly end: () => void } {
  let before = bytes();
  const timer = setInterval(() => {
    const now = bytes();
    const moved = now - before;
    before = now;
    if (moved >= LEAST_BYTES) return;
    clearInterval(timer);
    stop(
      new ServiceError("timeout", `the ${what} is too slow: less than 16 KiB in ${WITHIN_MS / 1000} seconds`),
    );
  }, WITHIN_MS);
  return { end: () => clearInterval(timer) };
}
