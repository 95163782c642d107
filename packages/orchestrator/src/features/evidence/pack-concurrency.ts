import type { Readable } from "node:stream";
import { ApiError, unavailable } from "../../platform/errors/api-error.ts";
import type { Places } from "../../platform/workers/places.ts";

/**
 * How many packs can be made at once, for one organisation and in all. Each holds files and work
 * for as long as it is read.
 */
const OF_ORG = 2;
const OF_ALL = 8;

/** Counts a pack from the request until it has been read, or its reader is gone. */
export class PackConcurrency {
  readonly #places: Places;

  constructor(places: Places) {
    this.#places = places;
  }

  /**
   * @param make begins the pack
   * @throws ApiError `rate_limited` if the organisation has as many already, `unavailable` if all
   * together have; and whatever `make` throws
   */
  async take(orgId: string, make: () => Promise<Readable>): Promise<Readable> {
    const ofOrg = `packs of ${orgId}`;
    const taken = await this.#places.take([
      { name: ofOrg, amount: 1, limit: OF_ORG },
      { name: "packs", amount: 1, limit: OF_ALL },
    ]);
    if ("full" in taken) throw taken.full === ofOrg ? tooManyOfOrg() : tooMany();
    try {
      const pack = await make();
      pack.once("close", () => taken.release());
      return pack;
    } catch (error) {
      taken.release();
      throw error;
    }
  }
}

function tooManyOfOrg(): ApiError {
  return new ApiError(
    "rate_limited",
    `${OF_ORG} packs of this organisation are being downloaded. Try again when one of them has finished.`,
    { retry_after_s: 30 },
    { "retry-after": "30" },
  );
}

function tooMany(): ApiError {
  return unavailable("Too many packs are being downloaded. Try again in a minute.");
}
