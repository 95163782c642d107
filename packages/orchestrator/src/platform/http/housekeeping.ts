import { errorMessage } from "@attestore/host/errno";
import { Cron } from "croner";
import type { Database } from "../database/schema.ts";
import type { Logger } from "../logging/logger.ts";
import { type Lifetimes, removeExpired } from "./remove-expired.ts";

export interface HousekeepingOptions {
  db: Database;
  lifetimes: Lifetimes;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Removes expired rows once an hour, until `signal`. Whatever fails is tried again an hour later.
 */
export function startHousekeeping({ db, lifetimes, logger, signal }: HousekeepingOptions): Cron {
  const job = new Cron("17 * * * *", { protect: true, timezone: "UTC", unref: true }, async () => {
    if (signal.aborted) return;
    try {
      const removed = await removeExpired(db, lifetimes);
      if (removed > 0)
        logger.debug({ removed }, "removed expired idempotency records and rate limit windows");
    } catch (error) {
      logger.warn({ reason: errorMessage(error) }, "housekeeping failed; trying again in an hour");
    }
  });
  signal.addEventListener("abort", () => job.stop(), { once: true });
  return job;
}
