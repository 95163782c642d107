import type { BigIntStats } from "node:fs";

export interface Digest {
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/** More than are ever between their upload and their registration. */
const REMEMBERED = 10_000;

/**
 * Digests of files that this process has written or read, oldest first, valid while a file is
 * unchanged. A missing one is computed again when needed, so nothing about it has to survive a
 * crash.
 */
export class DiskDigests {
  readonly #known = new Map<string, { version: string; digest: Digest }>();

  remember(key: string, file: BigIntStats, digest: Digest): void {
    this.#known.delete(key);
    this.#known.set(key, { version: versionOf(file), digest });
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  sha256Of(key: string, file: BigIntStats): string | null {
    const known = this.#known.get(key);
    return known?.version === versionOf(file) ? known.digest.sha256 : null;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}

/** Differs if the file was replaced or written to. */
export function versionOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}
