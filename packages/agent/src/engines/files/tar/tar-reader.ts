import {
  type ArchivedContent,
  paddingOf,
  type SparseMap,
  takeMap,
  wholeContent,
} from "./archived-content.ts";
import { type Attributes, attributesOf } from "./attributes.ts";
import { parsePaxRecords } from "./pax-records.ts";
import { SparseMapParser } from "./sparse-map.ts";
import { BLOCK, isZeroBlock, MalformedArchive, parseTarHeader, type TarHeader } from "./tar-header.ts";
import { toTreeEntry } from "./to-tree-entry.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { WalkOrder } from "./walk-order.ts";

/**
 * Receives what an archive contains, in its order. It gets each byte of a file's content once, and
 * for a hole the number of zeros.
 */
export interface TarSink {
  entry(entry: TreeEntry, attributes: Attributes): void;
  content(piece: Buffer): void;
  hole(bytes: number): void | Promise<void>;
  /**
   * Called after an entry, and after its content if it is a file. Only a file may have us wait.
   */
  entryEnd(): void | Promise<void>;
}

type State =
  | { readonly at: "header" }
  | { readonly at: "pax"; readonly body: Buffer; filled: number; readonly size: number }
  | SparseMap
  | { readonly at: "content"; readonly content: ArchivedContent }
  | { readonly at: "padding"; left: number }
  | { readonly at: "end"; zeroBlocks: number };

const MAX_PAX_BYTES = 8 << 20;

/**
 * Reads an archive as `dumpFiles` makes it (`tar --format=posix --sparse`) while it passes.
 * Everything else is malformed, including GNU tar's other formats.
 */
export class TarReader {
  readonly #sink: TarSink;
  readonly #block = Buffer.alloc(BLOCK);
  readonly #order = new WalkOrder();
  #filled = 0;
  #state: State = { at: "header" };
  #pax: ReadonlyMap<string, string> | null = null;

  constructor(sink: TarSink) {
    this.#sink = sink;
  }

  /** @throws MalformedArchive */
  async push(piece: Buffer): Promise<void> {
    for (let rest = piece; rest.length > 0;) {
      const used = this.#take(rest);
      rest = rest.subarray(used);
      const state = this.#state;
      if (state.at === "content" && state.content.isBetween) await this.#goOn(state.content);
    }
  }

  /**
   * Call this at the end of the archive.
   * @throws MalformedArchive if the archive is not complete.
   */
  end(): void {
    const state = this.#state;
    if (state.at !== "end" || state.zeroBlocks < 2 || this.#filled > 0) {
      throw new MalformedArchive("the archive ends too early");
    }
  }

  #take(bytes: Buffer): number {
    const state = this.#state;
    if (state.at === "content") return state.content.take(bytes, this.#sink);
    if (state.at === "padding") {
      const used = Math.min(state.left, bytes.length);
      state.left -= used;
      if (state.left === 0) this.#state = { at: "header" };
      return used;
    }
    if (state.at === "pax") {
      const used = bytes.copy(state.body, state.filled, 0, state.body.length - state.filled);
      state.filled += used;
      if (state.filled === state.body.length) {
        this.#pax = parsePaxRecords(state.body.subarray(0, state.size));
        this.#state = { at: "header" };
      }
      return used;
    }
    const used = bytes.copy(this.#block, this.#filled);
    this.#filled += used;
    if (this.#filled < BLOCK) return used;
    this.#filled = 0;
    if (state.at === "map") this.#map(state);
    else this.#header();
    return used;
  }

  #header(): void {
    const block = this.#block;
    const state = this.#state;
    if (isZeroBlock(block)) {
      if (this.#pax !== null) throw new MalformedArchive("a pax extended header belongs to no entry");
      this.#state = { at: "end", zeroBlocks: state.at === "end" ? state.zeroBlocks + 1 : 1 };
      return;
    }
    if (state.at === "end") throw new MalformedArchive("there is data after the archive's end");
    const header = parseTarHeader(block);
    if (header.type === "x") {
      if (this.#pax !== null || header.size === 0 || header.size > MAX_PAX_BYTES) {
        throw new MalformedArchive("a pax extended header is out of place or too large");
      }
      const padded = header.size + paddingOf(header.size);
      this.#state = { at: "pax", body: Buffer.allocUnsafe(padded), filled: 0, size: header.size };
      return;
    }
    const pax = this.#pax ?? new Map<string, string>();
    this.#pax = null;
    this.#entry(header, pax);
  }

  #entry(header: TarHeader, pax: ReadonlyMap<string, string>): void {
    const { entry, storedSize, isSparse } = toTreeEntry(header, pax);
    this.#order.next(entry);
    this.#sink.entry(entry, attributesOf(header, pax));
    if (entry.kind !== "file") {
      void this.#sink.entryEnd();
    } else if (isSparse) {
      this.#state = {
        at: "map",
        map: new SparseMapParser(entry.size),
        realSize: entry.size,
        left: storedSize,
      };
    } else {
      this.#state = { at: "content", content: wholeContent(storedSize) };
    }
  }

  #map(state: SparseMap): void {
    const content = takeMap(state, this.#block);
    if (content !== null) this.#state = { at: "content", content };
  }

  async #goOn(content: ArchivedContent): Promise<void> {
    if (await content.goOn(this.#sink)) return;
    await this.#sink.entryEnd();
    this.#state = content.padding === 0 ? { at: "header" } : { at: "padding", left: content.padding };
  }
}
