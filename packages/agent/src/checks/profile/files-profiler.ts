import type { FileKindProfile, FilesProfile } from "@attestore/proof";
import { MIN_ROWS } from "./column-profiler.ts";
import type { FileKind } from "./file-kinds.ts";
import type { LookedAt } from "./look-at-file.ts";
import { rate } from "./rate.ts";

interface Counted {
  files: number;
  formats: number;
  mismatched: number;
  measured: number;
  entropy: number;
  random: number;
}

/** Counts the files of a tree. */
export class FilesProfiler {
  readonly #kinds = new Map<FileKind | "all", Counted>();
  #files = 0;
  #renamed = 0;
  #notes = 0;

  add(looked: LookedAt): void {
    this.#files += 1;
    if (looked.isRenamed) this.#renamed += 1;
    if (looked.isNote) this.#notes += 1;
    // Together, too: ciphertext may have no ending, or one that no file had before.
    this.#count("all", looked);
    this.#count(looked.kind, looked);
  }

  #count(kind: FileKind | "all", { isMismatched, entropy, isRandom }: LookedAt): void {
    const counted = this.#kinds.get(kind) ?? newlyCounted();
    this.#kinds.set(kind, counted);
    counted.files += 1;
    if (isMismatched !== null) counted.formats += 1;
    if (isMismatched === true) counted.mismatched += 1;
    if (isRandom) counted.random += 1;
    if (entropy === null) return;
    counted.measured += 1;
    counted.entropy += entropy;
  }

  /** Null with too few files. */
  end(): FilesProfile | null {
    if (this.#files < MIN_ROWS) return null;
    const kinds = [...this.#kinds].flatMap(([name, counted]) => profileOf(name, counted) ?? []);
    return {
      files: this.#files,
      kinds: kinds.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      renamed: rate(this.#renamed, this.#files),
      notes: this.#notes,
    };
  }
}

function newlyCounted(): Counted {
  return { files: 0, formats: 0, mismatched: 0, measured: 0, entropy: 0, random: 0 };
}

function profileOf(
  name: FileKind | "all",
  { files, formats, mismatched, measured, entropy, random }: Counted,
): FileKindProfile | null {
  if (files < MIN_ROWS) return null;
  return {
    name,
    files,
    ...(formats < MIN_ROWS ? {} : { mismatched: rate(mismatched, formats) }),
    ...(measured < MIN_ROWS ? {} : { entropy: Math.round((100 * entropy) / measured) }),
    random: rate(random, files),
  };
}
