import { ApiError, unavailable } from "../errors/api-error.ts";

/** Reads of one organisation that run at once, and that wait for their turn. */
const OF_ORG = { running: 4, waiting: 32 };
/**
 * The same of all organisations. Each holds a connection to the database, of which others are left
 * for whoever writes.
 */
const OF_ALL = { running: 6, waiting: 500 };

interface Waiting {
  orgId: string;
  begin: () => void;
}

/**
 * The turns of calls that read much: no more than a few of one organisation run at once, and no
 * more than a few in all. The next turn is that of the first that waits whose organisation has one
 * free, so that one which asks for very much waits for itself.
 */
export class ReadingTurns {
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  /**
   * @throws ApiError `rate_limited` where too many of the organisation wait, `unavailable` where
   * too many do in all
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
    // Before it goes on: nobody else takes its turn meanwhile.
    this.#begin(next.orgId);
    next.begin();
  }
}
