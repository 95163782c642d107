import { setTimeout as pause } from "node:timers/promises";
import { isTransient, ServiceError } from "./service-error.ts";

export interface Backoff {
  /** The number of tries, including the first. */
  readonly tries: number;
  readonly first_ms: number;
  readonly longest_ms: number;
}

/** For a waiting person: survives a restart of the service, and gives up in time to say so. */
export const PATIENT: Backoff = { tries: 5, first_ms: 500, longest_ms: 10_000 };

/**
 * A server may ask for a longer wait, but an agent that is silent for days makes no backups. A
 * timer can wait 24 days at most.
 */
export const LONGEST_WAIT_MS = 3_600_000;

/**
 * How long to wait before try `attempt` + 1: doubles each time, with a random part between half and
 * all of it, so that many agents don't come back at once. Never less than Retry-After asks, up to
 * an hour.
 */
export function backoffDelay(backoff: Backoff, attempt: number, retryAfter_s: number | null): number {
  const full = Math.min(backoff.longest_ms, backoff.first_ms * 2 ** Math.min(attempt - 1, 30));
  return Math.max(full * (0.5 + Math.random() / 2), Math.min((retryAfter_s ?? 0) * 1000, LONGEST_WAIT_MS));
}

/**
 * Repeats an idempotent call while its failure may be temporary. A Retry-After longer than the
 * longest wait ends the tries: the caller has better things to do.
 */
export async function retrying<Result>(
  backoff: Backoff,
  signal: AbortSignal,
  call: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServiceError) || !isTransient(error) || attempt >= backoff.tries) throw error;
      if ((error.retryAfter_s ?? 0) * 1000 > backoff.longest_ms) throw error;
      await pause(backoffDelay(backoff, attempt, error.retryAfter_s), undefined, { signal });
    }
  }
}
