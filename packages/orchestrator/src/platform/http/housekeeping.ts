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
      const { removed, isUnfinished } = await removeExpired(db, lifetimes, { signal });
      if (removed > 0) logger.debug({ removed }, "removed expired rows");
      if (isUnfinished)
        logger.info({ removed }, "housekeeping has not removed all expired rows; going on in an hour");
    } catch (error) {
      logger.warn({ reason: errorMessage(error) }, "housekeeping failed; trying again in an hour");
    }
  });
  signal.addEventListener("abort", () => job.stop(), { once: true });
  return job;
}
