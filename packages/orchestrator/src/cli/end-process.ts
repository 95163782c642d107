import type { Logger } from "../platform/logging/logger.ts";

const END_WITHIN_MS = 5_000;

/**
 * Ends the process, which has nothing more to do, if something of it stays open: soon it would be
 * killed anyway, and then a supervisor would call that a failure.
 */
export function endProcessSoon(log: Logger, within_ms = END_WITHIN_MS): void {
  setTimeout(() => {
    log.warn(
      { open: process.getActiveResourcesInfo() },
      "something stays open; the process ends all the same",
    );
    process.exit();
  }, within_ms).unref();
}
