import { createHash } from "node:crypto";
import type { TreeEntry } from "./tree-entry.ts";

export interface ManifestSummary {
  /** SHA-256 in hex. */
  readonly sha256: string;
  /** Names that are no directory's. */
  readonly files: number;
  readonly directories: number;
  /** Of regular files, holes too, each once however many names it has. */
  readonly bytes: number;
}

/**
 * SHA-256 over a tree's entries, each in the walk's order: a directory before what is in it, and
 * that sorted by bytes.
 *
 * An entry is its fields with a NUL after each, which no path can hold: its kind (`file`,
 * `directory`, `symlink`, `hardlink`, `fifo`, `device`); its path; then of a file the mode in
 * octal, the size in decimal and the SHA-256 of its content in hex, of a link its target, of
 * anything else the mode.
 */
export class Manifest {
  readonly #hash = createHash("sha256");
  #files = 0;
  #directories = 0;
  #bytes = 0;

  /** `contentSha256` is of a file, null for anything else. */
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
