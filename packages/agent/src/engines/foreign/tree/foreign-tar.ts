import {
  type ArchivedContent,
  paddingOf,
  type SparseMap,
  takeMap,
  wholeContent,
} from "../../files/tar/archived-content.ts";
import { parsePaxRecords } from "../../files/tar/pax-records.ts";
import { SparseMapParser } from "../../files/tar/sparse-map.ts";
import { BLOCK, isZeroBlock, MalformedArchive } from "../../files/tar/tar-header.ts";
import { type ForeignHeader, hasChecksum, parseForeignHeader } from "./foreign-header.ts";
import { type Member, memberOf } from "./member.ts";

/** Receives what an archive contains, in its order. */
export interface MemberSink {
  /** The content of a file follows, in pieces and holes. */
  member(member: Member): void;
  content(piece: Buffer): void;
  hole(bytes: number): void | Promise<void>;
  /** After a member, and after its content if it is a file. */
  memberEnd(): void;
}

type State =
  | { readonly at: "header" }
  /** A pax header, or a name that is too long for its field. */
  | { readonly at: "extension"; readonly type: string; readonly parts: Buffer[]; size: number; left: number }
  | SparseMap
  | { readonly at: "content"; readonly content: ArchivedContent }
  | { readonly at: "padding"; left: number }
  /** `isContinued`: a header came after the end. */
  | { readonly at: "end"; isContinued: boolean }
  | { readonly at: "lost" };

const MAX_EXTENSION_BYTES = 1 << 20;
/** `git archive` writes its commit there. Anything else would hold for all that follows. */
const GLOBAL = new Set(["comment"]);

/**
 * Reads an archive that any tar may have made, while it passes on its way to GNU tar. It judges
 * nothing: where GNU tar could understand something in another way, or what this reader does not
 * know, it stops reading and says why.
 */
export class ForeignTar {
  readonly #sink: MemberSink;
  readonly #block = Buffer.alloc(BLOCK);
  #filled = 0;
  #state: State = { at: "header" };
  #pax: ReadonlyMap<string, string> | null = null;
  #longName: string | null = null;
  #longLink: string | null = null;
  #why: string | null = null;
  #lacksEnd = false;

  constructor(sink: MemberSink) {
    this.#sink = sink;
  }

  /** Why it stopped reading; null if it did not. Contains no names. */
  get why(): string | null {
    return this.#why;
  }

  /** Whether another archive comes after the end of the first: tar extracts only that. */
  get isContinued(): boolean {
    return this.#state.at === "end" && this.#state.isContinued;
  }

  async push(piece: Buffer): Promise<void> {
    for (let rest = piece; rest.length > 0 && this.#state.at !== "lost";) {
      try {
        rest = rest.subarray(this.#take(rest));
      } catch (error) {
        if (!(error instanceof MalformedArchive)) throw error;
        this.#lose(error.message);
      }
      const state = this.#state;
      if (state.at === "content" && state.content.isBetween) await this.#goOn(state.content);
    }
  }

  /** Whether it stops before its end. False if reading stopped before. */
  get lacksEnd(): boolean {
    return this.#lacksEnd;
  }

  /** Call this at the end of the archive. */
  end(): void {
    this.#lacksEnd = this.#state.at !== "end" && this.#state.at !== "lost";
    if (this.#lacksEnd) this.#lose("the archive has no end");
  }

  #lose(why: string): void {
    this.#why = why;
    this.#state = { at: "lost" };
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
    if (state.at === "extension") return this.#extension(state, bytes);
    const used = bytes.copy(this.#block, this.#filled);
    this.#filled += used;
    if (this.#filled < BLOCK) return used;
    this.#filled = 0;
    if (state.at === "map") this.#map(state);
    else if (state.at === "end") state.isContinued ||= !isZeroBlock(this.#block) && hasChecksum(this.#block);
    else this.#header();
    return used;
  }

  #header(): void {
    if (isZeroBlock(this.#block)) {
      if (this.#pax !== null || this.#longName !== null || this.#longLink !== null)
        return this.#lose("an extended header belongs to nothing");
      this.#state = { at: "end", isContinued: false };
      return;
    }
    const header = parseForeignHeader(this.#block);
    if (header === null) return this.#lose("a header is of an unknown format");
    if (["x", "g", "L", "K"].includes(header.type)) {
      if (header.size === 0 || header.size > MAX_EXTENSION_BYTES)
        return this.#lose("an extended header is empty, or larger than 1 MiB");
      const left = header.size + paddingOf(header.size);
      this.#state = { at: "extension", type: header.type, parts: [], size: header.size, left };
      return;
    }
    this.#member(header);
  }

  #extension(state: Extract<State, { at: "extension" }>, bytes: Buffer): number {
    const used = Math.min(state.left, bytes.length);
    state.parts.push(Buffer.from(bytes.subarray(0, used)));
    state.left -= used;
    if (state.left > 0) return used;
    const body = Buffer.concat(state.parts).subarray(0, state.size);
    this.#state = { at: "header" };
    const isRepeated =
      (state.type === "x" && this.#pax !== null) ||
      (state.type === "L" && this.#longName !== null) ||
      (state.type === "K" && this.#longLink !== null);
    if (isRepeated) this.#lose("an extended header comes twice");
    else if (state.type === "x") this.#pax = parsePaxRecords(body);
    else if (state.type === "g") {
      if ([...parsePaxRecords(body).keys()].some((keyword) => !GLOBAL.has(keyword)))
        this.#lose("a global extended header changes what follows");
    } else {
      const name = body.toString("latin1").replace(/\0+$/, "");
      if (state.type === "L") this.#longName = name;
      else this.#longLink = name;
    }
    return used;
  }

  #member(header: ForeignHeader): void {
    const pax = this.#pax ?? new Map<string, string>();
    if (this.#pax !== null && (this.#longName !== null || this.#longLink !== null))
      return this.#lose("a name is given in two ways");
    const name = this.#longName ?? header.name;
    const linkName = this.#longLink ?? header.linkName;
    this.#pax = this.#longName = this.#longLink = null;
    const { member, storedSize, isSparse } = memberOf({ ...header, name, linkName }, pax);
    this.#sink.member(member);
    const { entry } = member;
    if (entry.kind !== "file") this.#sink.memberEnd();
    else if (isSparse) {
      const map = new SparseMapParser(entry.size);
      this.#state = { at: "map", map, realSize: entry.size, left: storedSize };
    } else if (storedSize === 0) this.#sink.memberEnd();
    else this.#state = { at: "content", content: wholeContent(storedSize) };
  }

  #map(state: SparseMap): void {
    const content = takeMap(state, this.#block);
    if (content !== null) this.#state = { at: "content", content };
  }

  async #goOn(content: ArchivedContent): Promise<void> {
    if (await content.goOn(this.#sink)) return;
    this.#sink.memberEnd();
    this.#state = content.padding === 0 ? { at: "header" } : { at: "padding", left: content.padding };
  }
}
