import type { Readable } from "node:stream";
import { ApiError } from "../errors/api-error.ts";

/**
 * Receives one upload of each name at a time. Of two requests that send the same, the newer one
 * continues: the older one's sender has usually given up, and its connection does not show that.
 * The older one has released everything before the newer one begins.
 */
export class NewestReception {
  readonly #receiving = new Map<string, { stop: () => void; ended: Promise<void> }>();

  /** @throws ApiError `conflict` if a newer request took over, and whatever `receive` throws */
  async run<T>(name: string, source: Readable, receive: () => Promise<T>): Promise<T> {
    const before = this.#receiving.get(name);
    const ended = Promise.withResolvers<void>();
    let isOvertaken = false;
    const stop = (): void => {
      isOvertaken = true;
      source.destroy();
    };
    const own = { stop, ended: ended.promise };
    this.#receiving.set(name, own);
    try {
      before?.stop();
      await before?.ended;
      return await receive();
    } catch (error) {
      if (isOvertaken) throw new ApiError("conflict", "Another request is already sending this.");
      throw error;
    } finally {
      if (this.#receiving.get(name) === own) this.#receiving.delete(name);
      ended.resolve();
    }
  }
}
