import { setTimeout as delay } from "node:timers/promises";
import type { Installation } from "./installation.ts";

const EVERY_MS = 60_000;

/**
 * Looks once a minute until `signal`, so that the marker is not far behind and a database that is
 * set back is found.
 */
export async function watchInstallation(installation: Installation, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    await installation.check();
  }
}
