/** Running uploads and downloads may take this long while another worker serves. */
const REPLACED_MS = 3_600_000;

/** How a worker ends: whom that tells, and how long everything that still runs may take. */
export class WorkerEnd {
  readonly #shutdown_ms: number;
  readonly #shutdown = new AbortController();
  readonly #serviceEnds = new AbortController();
  #isReplaced = false;
  /** When requests that are still in flight are cut off. */
  #requestsUntil = 0;
  #stopUntil: number | null = null;

  constructor(shutdown_s: number) {
    this.#shutdown_ms = shutdown_s * 1000;
  }

  /** Aborted when this worker begins to end. */
  get shutdown(): AbortSignal {
    return this.#shutdown.signal;
  }

  /** Aborted when the whole service begins to end: the others do not continue either. */
  get serviceEnds(): AbortSignal {
    return this.#serviceEnds.signal;
  }

  /** Whether other workers continue, and clients should go to those. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Told before the end begins. A worker that was replaced may still be told to stop. */
  decide({ isReplaced }: { isReplaced: boolean }): void {
    this.#isReplaced = isReplaced;
    this.#requestsUntil = performance.now() + (isReplaced ? REPLACED_MS : this.#shutdown_ms);
  }

  /** Begins the end, and says how long everything besides requests may still take. */
  timeToStop_ms(): number {
    if (!this.#isReplaced) this.#serviceEnds.abort();
    this.#shutdown.abort();
    this.#stopUntil ??= performance.now() + this.#shutdown_ms;
    return Math.max(0, this.#stopUntil - performance.now());
  }

  /** How long requests in flight may still take. */
  timeForRequests_ms(): number {
    return this.#requestsUntil - performance.now();
  }
}
