import type { Segment, SparseMapParser } from "./sparse-map.ts";
import { BLOCK, MalformedArchive } from "./tar-header.ts";

export interface ContentSink {
  content(piece: Buffer): void;
  hole(bytes: number): void | Promise<void>;
}

/** A file's content on its way out of an archive: pieces, and the holes of a sparse file. */
export class ArchivedContent {
  readonly #segments: readonly Segment[];
  readonly #realSize: number;
  #next = 0;
  /** Bytes that remain of the current segment. */
  #left = 0;
  /** The position in the file. */
  #position = 0;
  /** Bytes behind the content, up to the next block. */
  readonly padding: number;

  /** `stored`: the sum of the segments' lengths. */
  constructor(segments: readonly Segment[], realSize: number, stored: number) {
    this.#segments = segments;
    this.#realSize = realSize;
    this.padding = paddingOf(stored);
  }

  /** Whether the current segment is over, or none has begun. */
  get isBetween(): boolean {
    return this.#left === 0;
  }

  /** @returns how many of these bytes belong to the current segment */
  take(bytes: Buffer, sink: ContentSink): number {
    const used = Math.min(this.#left, bytes.length);
    if (used > 0) sink.content(bytes.subarray(0, used));
    this.#left -= used;
    this.#position += used;
    return used;
  }

  /** Goes over the hole before the next segment. @returns false at the end of the file */
  async goOn(sink: ContentSink): Promise<boolean> {
    const segment = this.#segments[this.#next];
    const until = segment?.offset ?? this.#realSize;
    if (until > this.#position) await sink.hole(until - this.#position);
    this.#position = until;
    this.#next += 1;
    this.#left = segment?.length ?? 0;
    return segment !== undefined;
  }
}

/** The map of a sparse file, which comes before its data. */
export interface SparseMap {
  readonly at: "map";
  readonly map: SparseMapParser;
  readonly realSize: number;
  /** Bytes of map and data that are still to come. */
  left: number;
}

/**
 * Takes a block of the map. Null as long as there is more of it.
 * @throws MalformedArchive
 */
export function takeMap(state: SparseMap, block: Buffer): ArchivedContent | null {
  state.left -= BLOCK;
  if (state.left < 0) throw new MalformedArchive("the map of a sparse file is longer than the file");
  const segments = state.map.push(block);
  if (segments === null) return null;
  const stored = segments.reduce((sum, { length }) => sum + length, 0);
  if (stored !== state.left) throw new MalformedArchive("the map of a sparse file does not match its data");
  return new ArchivedContent(segments, state.realSize, stored);
}

/** A file that is stored as a whole. */
export function wholeContent(size: number): ArchivedContent {
  return new ArchivedContent(size === 0 ? [] : [{ offset: 0, length: size }], size, size);
}

/** Bytes up to the next block. */
export function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}
