import { setTimeout as delay } from "node:timers/promises";

/**
 * Prometheus gives a scrape ten seconds, and loses everything in it if it takes longer. A scrape
 * asks twice, one after the other.
 */
const WITHIN_MS = 3_000;

export interface CacheTimes {
  /** An answer is used so long. */
  fresh_ms: number;
  within_ms?: number;
}

/**
 * Asks at most so often, however often somebody wants to know, and never twice at the same time.
 * @returns what to call; null if the answer does not come in time
 */
export function cacheAnswer<T>(
  ask: () => Promise<T>,
  { fresh_ms, within_ms = WITHIN_MS }: CacheTimes,
): () => Promise<T | null> {
  let last: { at: number; isRunning: boolean; answer: Promise<T | null> } = {
    at: Number.NEGATIVE_INFINITY,
    isRunning: false,
    answer: Promise.resolve(null),
  };
  return () => {
    if (!last.isRunning && performance.now() - last.at > fresh_ms) {
      const asked = { at: performance.now(), isRunning: true, answer: ask() };
      const end = (): void => {
        asked.isRunning = false;
      };
      asked.answer.then(end, end);
      last = asked;
    }
    return Promise.race([last.answer, delay(within_ms, null, { ref: false })]);
  };
}
