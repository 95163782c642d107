import { setTimeout as pause } from "node:timers/promises";

/**
 * Lets one loop tell another that there is something to do. A ring that nobody waits for is
 * remembered.
 */
export class Wakeup {
  #rung = false;
  #stopWaiting: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#stopWaiting?.();
  }

  /** Until the next ring, `longest_ms`, or the signal; the caller does not learn which. */
  async wait(longest_ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const rung = new AbortController();
      this.#stopWaiting = () => rung.abort();
      await pause(longest_ms, undefined, { signal: AbortSignal.any([signal, rung.signal]) }).catch(
        () => undefined,
      );
      this.#stopWaiting = null;
    }
    this.#rung = false;
  }
}
