import type { Peer } from "../../platform/workers/peer.ts";

export const WATCH = { every_ms: 5000, silent_ms: 30_000, start_ms: 60_000 };

/**
 * Pings the other process again and again, and reports once if it has not answered for `silent_ms`:
 * it was stopped, or its thread is busy for ever, and its clients wait. Before its first answer it
 * has `start_ms`, to load its program. Only time in which this process ran counts: if the whole
 * machine was suspended, nothing is wrong.
 * @param onSilent told for how many milliseconds the other was silent
 * @returns a function that ends the watch
 */
export function watchPeer(peer: Peer, onSilent: (silent_ms: number) => void): () => void {
  // Somebody with a debugger holds it.
  if (process.execArgv.some((option) => option.startsWith("--inspect"))) return () => undefined;
  let isAsked = false;
  let silent_ms = 0;
  let most_ms = WATCH.start_ms;
  const timer = setInterval(() => {
    if (isAsked) silent_ms += WATCH.every_ms;
    if (silent_ms >= most_ms) {
      clearInterval(timer);
      onSilent(silent_ms);
      return;
    }
    if (isAsked) return;
    isAsked = true;
    peer.call("ping").then(
      () => {
        isAsked = false;
        silent_ms = 0;
        most_ms = WATCH.silent_ms;
      },
      // It has ended, which others notice.
      () => clearInterval(timer),
    );
  }, WATCH.every_ms);
  return () => clearInterval(timer);
}
