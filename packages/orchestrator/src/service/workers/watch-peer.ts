import type { Peer } from "../../platform/workers/peer.ts";

export const WATCH = { every_ms: 5000, silent_ms: 30_000 };

/**
 * Pings the other process again and again, and reports once if it has not answered for that long:
 * it was stopped, or its thread is busy for ever, and its clients wait. Only time in which this
 * process ran counts: if the whole machine was suspended, nothing is wrong.
 * @returns a function that ends the watch
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
