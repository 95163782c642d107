import type { Readable } from "node:stream";
import { ApiError } from "../errors/api-error.ts";
import type { Turns } from "../workers/turns.ts";

/**
 * Receives one upload of each name at a time. Of two requests that send the same, the newer one
 * continues: the older one's sender has usually given up, and its connection does not show that.
 * The older one has released everything before the newer one begins.
 */
export class NewestReception {
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** @throws ApiError `conflict` if a newer request took over, and whatever `receive` throws */
  async run<T>(name: string, source: Readable, receive: () => Promise<T>): Promise<T> {
    let isOvertaken = false;
    const end = await this.#turns.take(`receiving ${name}`, () => {
      isOvertaken = true;
      source.destroy();
    });
    try {
      return await receive();
    } catch (error) {
      if (isOvertaken) throw new ApiError("conflict", "Another request is already sending this.");
      throw error;
    } finally {
      end();
    }
  }
}
