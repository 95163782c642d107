import { setTimeout as pause } from "node:timers/promises";
import { COMMAND_WAIT_S } from "@attestore/contract";
import type { Service } from "../../service/service.ts";
import { backoffDelay } from "../../transport/backoff.ts";
import { isUnauthenticated, ServiceError } from "../../transport/service-error.ts";

const AFTER_FAILURE = { tries: Infinity, first_ms: 5_000, longest_ms: 60_000 };
/** A service that does not know the call may be updated while this agent runs. */
const ASK_OLD_SERVICE_AFTER_MS = 3_600_000;
const SHORTEST_S = 10;
/** A request that broke after this time was held: what broke it does not let requests wait. */
const HELD_MS = 5_000;

/**
 * Waits between heartbeats until the service has commands for this agent. Whatever goes wrong here
 * costs time and nothing else, because commands come with heartbeats.
 */
export class CommandWait {
  readonly #service: Pick<Service, "waitForCommands">;
  /** No request before this moment, by `performance.now()`. */
  #notBefore = 0;
  #failures = 0;
  /** Requests in a row that were cut off while they were held. */
  #cuts = 0;
  #longest_s = COMMAND_WAIT_S;
  #wasTold = false;

  constructor(service: Pick<Service, "waitForCommands">) {
    this.#service = service;
  }

  /** Until there are commands to fetch with a heartbeat, the time is over, or the signal fires. */
  async wait(time_ms: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + time_ms;
    while (!signal.aborted) {
      const now = performance.now();
      const left_s = Math.floor((end - now) / 1000);
      if (this.#notBefore > now || left_s < 1) {
        const until = left_s < 1 ? end : Math.min(this.#notBefore, end);
        await pause(Math.max(0, until - now), undefined, { signal }).catch(() => undefined);
        if (until === end) return;
      } else if (await this.#ask(this.#share(left_s), signal)) return;
    }
  }

  /**
   * The result of the heartbeat after a wait: if the service announces commands that never come,
   * the agent asks less often.
   */
  heard(commands: number): void {
    if (!this.#wasTold) return;
    this.#wasTold = false;
    if (commands === 0) this.#backOff(null);
    else this.#failures = 0;
  }

  /** Requests of the same length, so that none of them is so short that it hardly waits. */
  #share(left_s: number): number {
    return Math.floor(left_s / Math.ceil(left_s / this.#longest_s));
  }

  /** Whether it is time for a heartbeat. */
  async #ask(wait_s: number, signal: AbortSignal): Promise<boolean> {
    const began = performance.now();
    const took_ms = (): number => performance.now() - began;
    try {
      const { queued } = await this.#service.waitForCommands(wait_s, { signal, once: true });
      this.#cuts = 0;
      this.#wasTold = queued;
      if (queued) return true;
      // A service that stops lets all agents go at once.
      if (took_ms() < (wait_s - 1) * 1000) this.#backOff(null);
      else this.#failures = 0;
      return false;
    } catch (error) {
      if (signal.aborted) return true;
      if (!(error instanceof ServiceError)) throw error;
      // The heartbeat reports the fault.
      if (isUnauthenticated(error)) {
        this.#backOff(null);
        return true;
      }
      if (error.status === 404 || error.status === 405)
        this.#notBefore = performance.now() + ASK_OLD_SERVICE_AFTER_MS;
      else this.#backOff(error.retryAfter_s);
      if (took_ms() >= HELD_MS) this.#shorten();
      return false;
    }
  }

  #backOff(retryAfter_s: number | null): void {
    this.#failures += 1;
    this.#notBefore = performance.now() + backoffDelay(AFTER_FAILURE, this.#failures, retryAfter_s);
  }

  /** Once may be a service that crashed. */
  #shorten(): void {
    this.#cuts += 1;
    if (this.#cuts < 2) return;
    this.#cuts = 0;
    this.#longest_s = Math.max(SHORTEST_S, Math.floor(this.#longest_s / 2));
  }
}
