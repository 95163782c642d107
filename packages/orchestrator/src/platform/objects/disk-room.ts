import { statfs } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { unavailable } from "../errors/api-error.ts";

const DISK_FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

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
  #outstanding = 0;

  constructor(directory: string, reservedBytes: number) {
    this.#directory = directory;
    this.#reservedBytes = reservedBytes;
  }

  /** Throws `unavailable` if there is not that much room. */
  async claim(bytes: number): Promise<Claim> {
    // Bytes written in between may be missing from both numbers, so the larger of two readings
    // counts.
    const before = this.#outstanding;
    const { bavail, bsize } = await statfs(this.#directory);
    const outstanding = Math.max(before, this.#outstanding);
    if (bavail * bsize - outstanding < bytes + this.#reservedBytes) throw noRoom();
    this.#outstanding += bytes;
    let left = bytes;
    const give = (given: number): void => {
      left -= given;
      this.#outstanding -= given;
    };
    return { written: (count) => give(Math.min(count, left)), release: () => give(left) };
  }
}

export function noRoom(): Error {
  return unavailable("The object store has no space for this object.");
}

export function isDiskFull(error: unknown): boolean {
  return DISK_FULL.has(errorCode(error) ?? "");
}
