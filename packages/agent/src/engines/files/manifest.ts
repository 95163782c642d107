import { createHash } from "node:crypto";
import type { TreeEntry } from "./tree-entry.ts";

export interface ManifestSummary {
  /** SHA-256 in hex. */
  readonly sha256: string;
  /** The number of names that are not directories. */
  readonly files: number;
  readonly directories: number;
  /** The total size of regular files, including holes. A file with several names counts once. */
  readonly bytes: number;
}

/**
 * SHA-256 over the entries of a tree in the walk's order: a directory comes before its content, and
 * the content is sorted by bytes.
 * An entry is its fields, each followed by a NUL, which no path can contain: its kind (`file`,
 * `directory`, `symlink`, `hardlink`, `fifo`, `device`) and its path. A file also has its mode in
 * octal, its size in decimal and the SHA-256 of its content in hex; a link has its target; anything
 * else has its mode.
 */
export class Manifest {
  readonly #hash = createHash("sha256");
  #files = 0;
  #directories = 0;
  #bytes = 0;

  /** `contentSha256` is given for a file, and null for anything else. */
  add(entry: TreeEntry, contentSha256: string | null): void {
    this.#hash.update([entry.kind, entry.path, ...fields(entry, contentSha256), ""].join("\0"), "latin1");
    if (entry.kind === "directory") this.#directories += 1;
    else this.#files += 1;
    if (entry.kind === "file") this.#bytes += entry.size;
  }

  finish(): ManifestSummary {
    return {
      sha256: this.#hash.digest("hex"),
      files: this.#files,
      directories: this.#directories,
      bytes: this.#bytes,
    };
  }
}

function fields(entry: TreeEntry, contentSha256: string | null): string[] {
  switch (entry.kind) {
    case "file":
      if (contentSha256 === null) throw new Error("a file without a digest of its content");
      return [entry.mode.toString(8), String(entry.size), contentSha256];
    case "symlink":
    case "hardlink":
      return [entry.target];
    case "directory":
    case "fifo":
    case "device":
      return [entry.mode.toString(8)];
  }
}
