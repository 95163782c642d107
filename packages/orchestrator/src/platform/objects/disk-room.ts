import { statfs } from "node:fs/promises";
import { unavailable } from "../errors/api-error.ts";
import type { Places } from "../workers/places.ts";

const ROOM = "bytes that uploads have yet to write";

/** The room that an upload was promised. */
export interface Claim {
  /** This many of its bytes are on the disk now, and count there. */
  written(bytes: number): void;
  /** The upload has ended, successfully or not. */
  release(): void;
}

/**
 * The free room of a disk that uploads share, perhaps also with the database. An upload is let in
 * only if it and all running ones can end and still leave the reserve: the running ones have yet to
 * write what they announced.
 */
export class DiskRoom {
  readonly #directory: string;
  readonly #reservedBytes: number;
  readonly #places: Places;

  constructor(directory: string, reservedBytes: number, places: Places) {
    this.#directory = directory;
    this.#reservedBytes = reservedBytes;
    this.#places = places;
  }

  /** Throws `unavailable` if there is not that much room. */
  async claim(bytes: number): Promise<Claim> {
    // Bytes written in between may be missing from both numbers, so the larger of two readings
    // counts.
    const atLeast = await this.#places.held(ROOM);
    const { bavail, bsize } = await statfs(this.#directory);
    const limit = bavail * bsize - this.#reservedBytes;
    const taken = await this.#places.take([{ name: ROOM, amount: bytes, limit, atLeast }]);
    if ("full" in taken) throw noRoom();
    return { written: (count) => taken.give(count), release: () => taken.release() };
  }
}

export function noRoom(): Error {
  return unavailable("The object store has no space for this object.");
}
