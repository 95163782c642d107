import { setTimeout as pause } from "node:timers/promises";

/** Asks until there is an answer; the test's own timeout is the limit. */
export async function until<T>(ask: () => T | undefined | null | false): Promise<T> {
  for (;;) {
    const found = ask();
    if (found !== undefined && found !== null && found !== false) return found;
    await pause(20);
  }
}
