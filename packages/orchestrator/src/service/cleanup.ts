import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../platform/logging/logger.ts";

/** A step that takes longer waits for what does not come. */
const STEP_WITHIN_MS = 10_000;

/**
 * Started things, to be ended in the opposite order: once, and all of them, even if a step fails or
 * does not end.
 */
export class Cleanup {
  readonly #steps: (() => Promise<void>)[] = [];
  readonly #log: Logger;
  readonly #within_ms: number;
  #running: Promise<void> | null = null;

  constructor(log: Logger, within_ms = STEP_WITHIN_MS) {
    this.#log = log;
    this.#within_ms = within_ms;
  }

  /** @param name of what the step ends, for the log */
  add(name: string, step: () => Promise<void>): void {
    this.#steps.push(() => this.#inTime(name, step));
  }

  /** A step that limits its time by itself. */
  addLimited(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** After the last step, rejects with the first failure. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #inTime(name: string, step: () => Promise<void>): Promise<void> {
    const within_ms = this.#within_ms;
    const timer = new AbortController();
    const late = delay(within_ms, true, { signal: timer.signal }).catch(() => true);
    try {
      if (!(await Promise.race([step().then(() => false), late]))) return;
      this.#log.error(
        { step: name, within_ms },
        "the service does not wait any longer for a part of it to stop",
      );
    } finally {
      timer.abort();
    }
  }
}
