import { join } from "node:path";
import { SignedHeads } from "../log/checkpoints/signed-heads.ts";
import type { Config } from "../platform/config/read-config.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { LocalPlaces } from "../platform/workers/places.ts";
import { LocalTurns } from "../platform/workers/turns.ts";
import { Cleanup } from "./cleanup.ts";
import { openOwnDatabase } from "./open-databases.ts";
import { startWorker } from "./start-worker.ts";

export interface Service {
  /** Finishes the accepted requests, then releases everything, the database last. */
  stop(): Promise<void>;
}

/**
 * Starts the whole service with these settings, in this process. Resolves when it accepts requests;
 * if the start fails, whatever was started is stopped again.
 */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const cleanup = new Cleanup(log);
  try {
    await serveAlone(config, { connection: await openOwnDatabase(config, log, cleanup), log }, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
  return { stop: () => cleanup.run() };
}

/** The one process that answers requests is the one that owns the data directory. */
export async function serveAlone(
  config: Config,
  { connection, log }: { connection: ConnectionSettings; log: Logger },
  cleanup: Cleanup,
): Promise<void> {
  const signed = await SignedHeads.open(join(config.data, "signed-heads"));
  cleanup.add("the signed heads", () => signed.close());
  const worker = await startWorker(config, log, {
    connection,
    signed,
    turns: new LocalTurns(),
    places: new LocalPlaces(),
    leads: true,
    isFirst: true,
    numbered: null,
  });
  cleanup.addLimited(() => worker.stop());
}
