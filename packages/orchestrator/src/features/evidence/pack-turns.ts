import type { Readable } from "node:stream";
import { ApiError, unavailable } from "../../platform/errors/api-error.ts";

/**
 * Packs that are made at once: of one organisation, and of all. Each holds files, and work, for as
 * long as it is read.
 */
const OF_ORG = 2;
const OF_ALL = 8;

/**
 * Counts packs from when they are asked for until they have been read, or nobody reads them any
 * more.
 */
export class PackTurns {
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * @param make begins the pack
   * @throws ApiError `rate_limited` where the organisation has as many, `unavailable` where all together have; and what `make` throws
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
