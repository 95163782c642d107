import { statfs } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { unavailable } from "../errors/api-error.ts";

const DISK_FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** The room that an upload was let in with. */
export interface Claim {
  /** So many bytes of it are on the disk now, which itself tells of them. */
  written(bytes: number): void;
  /** The upload has ended, one way or the other. */
  release(): void;
}

/**
 * The free room of a disk that uploads share, and with them perhaps the database. An upload is let
 * in only if all that run can end and still leave the reserve: those that were let in before have
 * yet to write what they announced.
 */
export class DiskRoom {
  readonly #directory: string;
  readonly #reservedBytes: number;
  #outstanding = 0;

  constructor(directory: string, reservedBytes: number) {
    this.#directory = directory;
    this.#reservedBytes = reservedBytes;
  }

  /** Throws `unavailable` where there is not so much. */
  async claim(bytes: number): Promise<Claim> {
    // What is written meanwhile may be in neither of the two numbers, so the larger of both times
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
