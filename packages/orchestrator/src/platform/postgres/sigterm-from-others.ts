import type { Logger } from "../logging/logger.ts";
import { readPostmasterPid } from "./postmaster-pid.ts";
import type { Server } from "./server.ts";

const LOOK_EVERY_MS = 1000;
/** If the service was told to stop as well, its last requests may end first. */
const GRACE_MS = 5000;

/**
 * Somebody else's SIGTERM makes PostgreSQL refuse new connections and wait until the old ones end.
 * Those are our own, so it would wait for ever, and nobody could be served. earlyoom and a careless
 * `pkill` send one. Such a server is stopped, and its supervisor starts it again.
 * @param own fires before we stop the server ourselves
 * @returns what ends the watch
 */
export function stopAfterSigterm(cluster: string, server: Server, own: AbortSignal, log: Logger): () => void {
  let since: number | null = null;
  const look = async (): Promise<void> => {
    const found = await readPostmasterPid(cluster).catch(() => null);
    if (found?.pid !== server.pid || !found.stopping || own.aborted) return;
    since ??= performance.now();
    if (performance.now() - since < GRACE_MS) return;
    clearInterval(timer);
    log.warn(
      { pid: server.pid },
      "PostgreSQL was told to stop, and not by us; stopping it, to start it again",
    );
    await server.stop();
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
