import { setTimeout as pause } from "node:timers/promises";
import { MAX_ENDED_PHASES, type ProgressReport } from "@attestore/contract";
import type { Service } from "../../service/service.ts";
import { isTransient, ServiceError } from "../../transport/service-error.ts";

/** A run that is shorter reports nothing. */
const FIRST_S = 2;
const AFTER_FAILURE_S = 30;

type EndedPhase = NonNullable<ProgressReport["ended"]>[number];

/**
 * Tells the service how far a command is, for people who watch, as often as the service asks. A run
 * never waits for it, and nothing depends on it. It sends only names of phases and numbers: what
 * programs print may hold secrets.
 */
export class ProgressReports implements AsyncDisposable {
  readonly #over = new AbortController();
  readonly #running: Promise<void>;
  #latest: { phase: string; bytes: number; totalBytes: number | undefined; began: number } | null = null;
  #ended: EndedPhase[] = [];
  /** A service of an earlier version refuses fields that it does not know. */
  #saysEnded = true;

  constructor(service: Pick<Service, "reportProgress">, commandId: string, signal: AbortSignal) {
    this.#running = this.#run(service, commandId, AbortSignal.any([signal, this.#over.signal]));
    // A defect is thrown where the run ends.
    this.#running.catch(() => undefined);
  }

  readonly update = (phase: string, bytes: number, totalBytes?: number): void => {
    const before = this.#latest;
    const began = before?.phase === phase ? before.began : performance.now();
    if (before !== null && before.phase !== phase) {
      const took_ms = Math.round(began - before.began);
      this.#ended = [...this.#ended, { ...amountOf(before), took_ms }].slice(-MAX_ENDED_PHASES);
    }
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
        if (error.status === 400 && this.#saysEnded) {
          this.#saysEnded = false;
          continue;
        }
        // A service that does not know the call, or no longer the command.
        if (!isTransient(error)) return;
        next_s = Math.max(AFTER_FAILURE_S, Math.min(error.retryAfter_s ?? 0, 3600));
      }
    }
  }

  #report(): ProgressReport | null {
    if (this.#latest === null) return null;
    const { totalBytes, began } = this.#latest;
    const { checks, ...amount } = amountOf(this.#latest);
    return {
      ...amount,
      ...(totalBytes === undefined ? {} : { total_bytes: totalBytes }),
      phase_ms: Math.round(performance.now() - began),
      ...(this.#saysEnded && checks !== undefined ? { checks } : {}),
      ...(this.#saysEnded && this.#ended.length > 0 ? { ended: this.#ended } : {}),
    };
  }
}

/** In the phase `checks`, a run counts checks. */
function amountOf({ phase, bytes }: { phase: string; bytes: number }): Omit<EndedPhase, "took_ms"> {
  return phase === "checks" ? { phase, bytes: 0, checks: bytes } : { phase, bytes };
}
