import type { Readable } from "node:stream";
import { ApiError, unavailable } from "../../platform/errors/api-error.ts";

/**
 * How many packs can be made at once, for one organisation and in all. Each holds files and work
 * for as long as it is read.
 */
const OF_ORG = 2;
const OF_ALL = 8;

/** Counts a pack from the request until it has been read, or its reader is gone. */
export class PackConcurrency {
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * @param make begins the pack
   * @throws ApiError `rate_limited` if the organisation has as many already, `unavailable` if all
   * together have; and whatever `make` throws
   */
  async take(orgId: string, make: () => Promise<Readable>): Promise<Readable> {
    const own = this.#running.get(orgId) ?? 0;
    if (own >= OF_ORG)
      throw new ApiError(
        "rate_limited",
        `${OF_ORG} packs of this organisation are being downloaded. Try again when one of them has finished.`,
        { retry_after_s: 30 },
        { "retry-after": "30" },
      );
    if (this.#total >= OF_ALL)
      throw unavailable("Too many packs are being downloaded. Try again in a minute.");
    this.#running.set(orgId, own + 1);
    this.#total += 1;
    try {
      const pack = await make();
      pack.once("close", () => this.#end(orgId));
      return pack;
    } catch (error) {
      this.#end(orgId);
      throw error;
    }
  }

  #end(orgId: string): void {
    const left = (this.#running.get(orgId) ?? 1) - 1;
    if (left === 0) this.#running.delete(orgId);
    else this.#running.set(orgId, left);
    this.#total -= 1;
  }
}
