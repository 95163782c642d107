import type { Peer } from "../../platform/workers/peer.ts";

export const WATCH = { every_ms: 5000, silent_ms: 30_000 };

/**
 * Asks the other process again and again whether it is there, and tells once if it has not answered
 * for so long: it was stopped, or its thread is caught in something, and whoever is connected to it
 * waits. Only time in which this process ran counts: if the whole machine stood still, nothing is
 * wrong.
 * @returns what ends the watch
 */
export function watchPeer(peer: Peer, onSilent: () => void): () => void {
  // Somebody with a debugger holds it.
  if (process.execArgv.some((option) => option.startsWith("--inspect"))) return () => undefined;
  let isAsked = false;
  let silent_ms = 0;
  const timer = setInterval(() => {
    if (isAsked) silent_ms += WATCH.every_ms;
    if (silent_ms >= WATCH.silent_ms) {
      clearInterval(timer);
      onSilent();
      return;
    }
    if (isAsked) return;
    isAsked = true;
    peer.call("ping").then(
      () => {
        isAsked = false;
        silent_ms = 0;
      },
      // It has ended, which others notice.
      () => clearInterval(timer),
    );
  }, WATCH.every_ms);
  return () => clearInterval(timer);
}
