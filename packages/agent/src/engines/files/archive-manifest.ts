import { createHash, type Hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Manifest, type ManifestSummary } from "./manifest.ts";
import type { TarSink } from "./tar-reader.ts";
import type { TreeEntry } from "./tree-entry.ts";

const ZEROS = Buffer.alloc(1 << 20);

/** The manifest of what an archive holds. */
export class ArchiveManifest implements TarSink {
  readonly #manifest = new Manifest();
  #entry: TreeEntry | null = null;
  #content: Hash | null = null;

  entry(entry: TreeEntry): void {
    this.#entry = entry;
    this.#content = entry.kind === "file" ? createHash("sha256") : null;
  }

  content(piece: Buffer): void {
    this.#content?.update(piece);
  }

  async hole(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= ZEROS.length) {
      this.#content?.update(left < ZEROS.length ? ZEROS.subarray(0, left) : ZEROS);
      // A hole may be terabytes: others have their turn meanwhile.
      await nextTurn();
    }
  }

  entryEnd(): void {
    if (this.#entry !== null) this.#manifest.add(this.#entry, this.#content?.digest("hex") ?? null);
    this.#entry = null;
  }

  finish(): ManifestSummary {
    return this.#manifest.finish();
  }
}
