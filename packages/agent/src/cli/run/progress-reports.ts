import { setTimeout as pause } from "node:timers/promises";
import type { ProgressReport } from "@attestore/contract";
import type { Service } from "../../service/service.ts";
import { isTransient, ServiceError } from "../../transport/service-error.ts";

/** A run that is shorter reports nothing. */
const FIRST_S = 2;
const AFTER_FAILURE_S = 30;

/**
 * Tells the service how far a command is, for people who watch, as often as the service asks. A run
 * never waits for it, and nothing depends on it.
 */
export class ProgressReports implements AsyncDisposable {
  readonly #over = new AbortController();
  readonly #running: Promise<void>;
  #latest: { phase: string; bytes: number; totalBytes: number | undefined; began: number } | null = null;

  constructor(service: Pick<Service, "reportProgress">, commandId: string, signal: AbortSignal) {
    this.#running = this.#run(service, commandId, AbortSignal.any([signal, this.#over.signal]));
    // A defect is thrown where the run ends.
    this.#running.catch(() => undefined);
  }

  readonly update = (phase: string, bytes: number, totalBytes?: number): void => {
    const began = this.#latest?.phase === phase ? this.#latest.began : performance.now();
    this.#latest = { phase, bytes, totalBytes, began };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(
    service: Pick<Service, "reportProgress">,
    commandId: string,
    signal: AbortSignal,
  ): Promise<void> {
    let next_s = FIRST_S;
    for (;;) {
      await pause(next_s * 1000, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const report = this.#report();
      if (report === null) continue;
      try {
        const answer = await service.reportProgress(commandId, report, { signal, once: true });
        next_s = Math.min(answer.next_s, 3600);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ServiceError)) throw error;
        // A service that does not know the call, or the command any more.
        if (!isTransient(error)) return;
        next_s = Math.max(AFTER_FAILURE_S, Math.min(error.retryAfter_s ?? 0, 3600));
      }
    }
  }

  #report(): ProgressReport | null {
    if (this.#latest === null) return null;
    const { phase, bytes, totalBytes, began } = this.#latest;
    return {
      phase,
      // What a run counts there are checks.
      bytes: phase === "checks" ? 0 : bytes,
      ...(totalBytes === undefined ? {} : { total_bytes: totalBytes }),
      phase_ms: Math.round(performance.now() - began),
    };
  }
}
