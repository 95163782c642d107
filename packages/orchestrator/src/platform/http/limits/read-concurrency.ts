import { ApiError, unavailable } from "../../errors/api-error.ts";

/** How many reads of one organisation may run at once, and how many may wait. */
const OF_ORG = { running: 4, waiting: 32 };
/**
 * The same for all organisations together. Each holds a connection to the database, and some must
 * be left for writers.
 */
const OF_ALL = { running: 6, waiting: 500 };

interface Waiting {
  orgId: string;
  begin: () => void;
}

/**
 * Takes turns among calls that read much: only a few of one organisation run at once, and only a
 * few in all. The next turn goes to the first waiting call whose organisation has one free, so an
 * organisation that asks for very much waits only for itself.
 */
export class ReadConcurrency {
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  /**
   * @throws ApiError `rate_limited` if too many of the organisation wait, `unavailable` if too many
   * wait in all
   */
  async take<T>(orgId: string, read: () => Promise<T>): Promise<T> {
    if (!this.#isFree(orgId)) await this.#wait(orgId);
    else this.#begin(orgId);
    try {
      return await read();
    } finally {
      this.#end(orgId);
    }
  }

  #isFree(orgId: string): boolean {
    return this.#total < OF_ALL.running && (this.#running.get(orgId) ?? 0) < OF_ORG.running;
  }

  #wait(orgId: string): Promise<void> {
    const own = this.#waiting.filter((waiting) => waiting.orgId === orgId).length;
    if (own >= OF_ORG.waiting)
      throw new ApiError(
        "rate_limited",
        "Too many calls of this organisation are waiting. Try again in a second.",
        { retry_after_s: 1 },
        { "retry-after": "1" },
      );
    if (this.#waiting.length >= OF_ALL.waiting)
      throw unavailable("Too many calls are waiting. Try again in a moment.");
    return new Promise((resolve) => {
      this.#waiting.push({ orgId, begin: resolve });
    });
  }

  #begin(orgId: string): void {
    this.#running.set(orgId, (this.#running.get(orgId) ?? 0) + 1);
    this.#total += 1;
  }

  #end(orgId: string): void {
    const rest = (this.#running.get(orgId) ?? 1) - 1;
    if (rest === 0) this.#running.delete(orgId);
    else this.#running.set(orgId, rest);
    this.#total -= 1;
    const index = this.#waiting.findIndex((waiting) => this.#isFree(waiting.orgId));
    const [next] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (next === undefined) return;
    // Before it continues, so nobody else takes its turn meanwhile.
    this.#begin(next.orgId);
    next.begin();
  }
}
