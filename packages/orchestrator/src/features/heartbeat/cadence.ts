import { performance } from "node:perf_hooks";

/**
 * An agent waits up to a tenth longer, and the overview calls it stopped after three intervals:
 * with this much more, one lost heartbeat does not make it look stopped.
 */
const MOST = 4 / 3;
/** Heartbeats that must fit into the time after which an agent counts as silent. */
const HEARD = 3;
const BUSY = 0.9;
const CALM = 0.7;
const STEP = 1.25;
const SAMPLE_MS = 10_000;

export interface CadenceOptions {
  heartbeatInterval_s: number;
  /** How many missing heartbeats make an agent silent. */
  silentAfterIntervals: number;
  /** How busy this process's thread was since the last call, from 0 to 1. */
  busy?: () => number;
  /** Milliseconds. */
  now?: () => number;
}

/**
 * When agents are to come again: after the set interval, or after up to a third more while this
 * process's thread is full. An agent that keeps to it never counts as silent.
 */
export class Cadence {
  readonly #interval_s: number;
  readonly #most: number;
  readonly #busy: () => number;
  readonly #now: () => number;
  #factor = 1;
  #sampledAt: number;

  constructor({ heartbeatInterval_s, silentAfterIntervals, busy, now }: CadenceOptions) {
    this.#interval_s = heartbeatInterval_s;
    this.#most = Math.max(1, Math.min(MOST, silentAfterIntervals / HEARD));
    this.#busy = busy ?? busySinceLast();
    this.#now = now ?? (() => performance.now());
    this.#sampledAt = this.#now();
  }

  /** Whole seconds until an agent's next heartbeat. */
  next(): number {
    const now = this.#now();
    if (now - this.#sampledAt >= SAMPLE_MS) {
      this.#sampledAt = now;
      const busy = this.#busy();
      if (busy > BUSY) this.#factor = Math.min(this.#most, this.#factor * STEP);
      else if (busy < CALM) this.#factor = Math.max(1, this.#factor / STEP);
    }
    return Math.floor(this.#interval_s * this.#factor);
  }
}

function busySinceLast(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
