import { createHash, type Hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { beyondLimit } from "../../enforce-limits.ts";
import type { SourceLimits } from "../../../config/source-limits.ts";
import { type ArchivedAttributes, AttributeDigests } from "../attributes/attribute-digests.ts";
import type { Attributes, Moment } from "../tar/attributes.ts";
import { Manifest, type ManifestSummary } from "../manifest.ts";
import type { RecentFiles } from "./recent-files.ts";
import type { SourceHoles } from "./source-holes.ts";
import type { TarSink } from "../tar/tar-reader.ts";
import type { TreeEntry } from "../tree-entry.ts";

const ZEROS = Buffer.alloc(1 << 20);

/** What only a look at the source itself shows of an archive. */
export interface ArchivedSource {
  readonly holes: SourceHoles;
  readonly recent: RecentFiles;
}

export interface ArchiveSummary extends ManifestSummary {
  readonly attributes: ArchivedAttributes;
}

/** Computes the manifest of an archive's content. */
export class ArchiveManifest implements TarSink {
  readonly #manifest = new Manifest();
  readonly #attributes = new AttributeDigests();
  #entry: TreeEntry | null = null;
  #content: Hash | null = null;
  readonly #limits: SourceLimits;
  readonly #signal: AbortSignal;
  readonly #source: ArchivedSource | null;
  #modified: Moment = 0n;
  /** In the current file. */
  #position = 0;
  #logicalBytes = 0;

  /** `source`: the directory that is archived. */
  constructor(limits: SourceLimits, signal: AbortSignal, source: ArchivedSource | null = null) {
    this.#limits = limits;
    this.#signal = signal;
    this.#source = source;
  }

  /** @throws RunError `limit_exceeded` */
  entry(entry: TreeEntry, attributes: Attributes): void {
    if (entry.kind === "file") this.#logicalBytes += entry.size;
    const { logicalBytes } = this.#limits;
    if (this.#logicalBytes > logicalBytes) {
      const name = JSON.stringify(entry.path.slice(0, 200));
      throw beyondLimit(
        `with ${name} the files hold more than ${logicalBytes} bytes, holes included`,
        "limits.logical_bytes",
      );
    }
    this.#entry = entry;
    this.#modified = attributes.modified;
    this.#position = 0;
    this.#attributes.add(entry, attributes);
    this.#content = entry.kind === "file" ? createHash("sha256") : null;
  }

  content(piece: Buffer): void {
    this.#position += piece.length;
    this.#content?.update(piece);
  }

  async hole(bytes: number): Promise<void> {
    const [path, modified, offset] = [this.#entry?.path ?? "", this.#modified, this.#position];
    await this.#source?.holes.check({ path, modified, offset, bytes });
    this.#position += bytes;
    for (let left = bytes; left > 0; left -= ZEROS.length) {
      stopIfAborted(this.#signal);
      this.#content?.update(left < ZEROS.length ? ZEROS.subarray(0, left) : ZEROS);
      // A hole may be terabytes long, so let other work run in between.
      await nextTurn();
    }
  }

  entryEnd(): void | Promise<void> {
    const [entry, sha256] = [this.#entry, this.#content?.digest("hex") ?? null];
    this.#entry = null;
    if (entry === null) return;
    this.#manifest.add(entry, sha256);
    if (entry.kind !== "file" || sha256 === null) return;
    const { path, size } = entry;
    const modified = this.#modified;
    if (size === 0) return this.#source?.holes.checkEmpty({ path, modified });
    return this.#source?.recent.check({ path, size, sha256, modified });
  }

  finish(): ArchiveSummary {
    return { ...this.#manifest.finish(), attributes: this.#attributes.finish() };
  }
}
