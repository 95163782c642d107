import { DamagedCiphertext } from "./damaged.ts";

/** The walker's output. A small enough frame comes whole; a larger one comes in parts, in order. */
export type FrameSegment =
  | { readonly kind: "frame"; readonly bytes: Buffer; readonly maxOutput: number }
  | { readonly kind: "part"; readonly bytes: Buffer; readonly last: boolean };

/** Larger frames, compressed or not, are streamed, which limits the memory. */
export const MAX_WHOLE_FRAME = 2 << 20;

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAX_BLOCK = 128 * 1024;

type State =
  | { readonly at: "frame" }
  | { readonly at: "block"; readonly frame: Frame }
  | { readonly at: "checksum"; readonly frame: Frame }
  | { readonly at: "skippable"; left: number };

interface Frame {
  readonly hasChecksum: boolean;
  readonly contentSize: number | null;
  /** The most that its blocks so far can decode to. */
  blocksOutput: number;
  streamed: boolean;
}

/**
 * Finds where zstd frames end (RFC 8878, section 3) by walking frame and block headers, without
 * decoding. Needed because Node's decoder stops after one frame, silently, whatever follows.
 */
export class ZstdFrameWalker {
  #memory: Buffer = Buffer.allocUnsafeSlow(2 << 20);
  /**
   * The bytes in memory that are not passed on yet. They begin where the frame, or the rest of a
   * streamed one, begins.
   */
  #buffer: Buffer = this.#memory.subarray(0, 0);
  /**
   * The next header's offset in the buffer; beyond its end while a block's body is still to come.
   */
  #next = 0;
  #state: State = { at: "frame" };
  #frames = 0;

  /** @throws DamagedCiphertext `zstd_damaged`, `trailing_data`. */
  push(piece: Buffer): FrameSegment[] {
    this.#append(piece);
    const segments: FrameSegment[] = [];
    while (this.#step(segments));
    return segments;
  }

  #append(piece: Buffer): void {
    const kept = this.#buffer;
    const length = kept.length + piece.length;
    const memory = length <= this.#memory.length ? this.#memory : Buffer.allocUnsafeSlow(2 * length);
    // To the front, which may overlap: copy() minds that.
    kept.copy(memory);
    piece.copy(memory, kept.length);
    this.#memory = memory;
    this.#buffer = memory.subarray(0, length);
  }

  /**
   * Tells that the input ended. @throws DamagedCiphertext if it ended within a frame, or without
   * any.
   */
  end(): void {
    if (this.#state.at !== "frame" || this.#buffer.length > 0)
      throw damaged("the zstd data ends within a frame");
    if (this.#frames === 0) throw damaged("there is no zstd frame");
  }

  #step(segments: FrameSegment[]): boolean {
    const state = this.#state;
    switch (state.at) {
      case "frame":
        return this.#frameHeader();
      case "skippable":
        return this.#skip(state);
      case "block":
        return this.#block(state.frame) || this.#handOn(state.frame, segments);
      case "checksum":
        return this.#checksum(state.frame, segments) || this.#handOn(state.frame, segments);
    }
  }

  #frameHeader(): boolean {
    const buffer = this.#buffer;
    if (buffer.length < 5) return false;
    const magic = buffer.readUInt32LE(0);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      if (buffer.length < 8) return false;
      this.#buffer = buffer.subarray(8);
      this.#state = { at: "skippable", left: buffer.readUInt32LE(4) };
      return true;
    }
    if (magic !== MAGIC) {
      if (this.#frames === 0) throw damaged("the decrypted data is not zstd");
      throw new DamagedCiphertext(
        "trailing_data",
        `there is data other than a zstd frame after frame ${this.#frames}`,
      );
    }
    const descriptor = buffer.readUInt8(4);
    if ((descriptor & 0x08) !== 0) throw damaged("a zstd frame header has its reserved bit set");
    const singleSegment = (descriptor & 0x20) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
    const sizeFlag = descriptor >> 6;
    const sizeBytes = sizeFlag === 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag;
    const dictionaryAt = 5 + (singleSegment ? 0 : 1);
    const sizeAt = dictionaryAt + dictionaryBytes;
    if (buffer.length < sizeAt + sizeBytes) return false;
    if (dictionaryBytes > 0 && buffer.readUIntLE(dictionaryAt, dictionaryBytes) !== 0) {
      throw damaged("a zstd frame needs a dictionary, which backups never do");
    }
    const frame: Frame = {
      hasChecksum: (descriptor & 0x04) !== 0,
      contentSize: contentSize(buffer, sizeAt, sizeBytes),
      blocksOutput: 0,
      streamed: false,
    };
    frame.streamed = frame.contentSize !== null && frame.contentSize > MAX_WHOLE_FRAME;
    this.#next = sizeAt + sizeBytes;
    this.#frames += 1;
    this.#state = { at: "block", frame };
    return true;
  }

  #block(frame: Frame): boolean {
    if (this.#buffer.length < this.#next + 3) return false;
    const header = this.#buffer.readUIntLE(this.#next, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === 3) throw damaged("a zstd block has the reserved type");
    if (size > MAX_BLOCK) throw damaged("a zstd block is larger than the format allows");
    const RLE = 1;
    const COMPRESSED = 2;
    this.#next += 3 + (type === RLE ? 1 : size);
    frame.blocksOutput += type === COMPRESSED ? MAX_BLOCK : size;
    if ((header & 1) === 1) this.#state = { at: "checksum", frame };
    return true;
  }

  /** The last block's body, and the checksum if there is one: these complete the frame. */
  #checksum(frame: Frame, segments: FrameSegment[]): boolean {
    const end = this.#next + (frame.hasChecksum ? 4 : 0);
    if (this.#buffer.length < end) return false;
    const bytes = copyOf(this.#buffer.subarray(0, end));
    const maxOutput = frame.contentSize ?? frame.blocksOutput;
    if (frame.streamed || end > MAX_WHOLE_FRAME || maxOutput > MAX_WHOLE_FRAME) {
      segments.push({ kind: "part", bytes, last: true });
    } else {
      segments.push({ kind: "frame", bytes, maxOutput });
    }
    this.#buffer = this.#buffer.subarray(end);
    this.#next = 0;
    this.#state = { at: "frame" };
    return true;
  }

  /**
   * Out of input within a frame: if that is too large to wait for, the bytes so far are passed on
   * as a part.
   */
  #handOn(frame: Frame, segments: FrameSegment[]): false {
    if (
      this.#buffer.length > MAX_WHOLE_FRAME ||
      (frame.contentSize ?? frame.blocksOutput) > MAX_WHOLE_FRAME
    ) {
      frame.streamed = true;
    }
    if (!frame.streamed) return false;
    // A header that is cut in two stays here, because passed-on bytes are not seen again.
    const upTo = Math.min(this.#next, this.#buffer.length);
    if (upTo > 0) segments.push({ kind: "part", bytes: copyOf(this.#buffer.subarray(0, upTo)), last: false });
    this.#buffer = this.#buffer.subarray(upTo);
    this.#next -= upTo;
    return false;
  }

  #skip(state: { left: number }): boolean {
    const skipped = Math.min(state.left, this.#buffer.length);
    this.#buffer = this.#buffer.subarray(skipped);
    state.left -= skipped;
    if (state.left > 0) return false;
    this.#state = { at: "frame" };
    return true;
  }
}

/** In memory of its own, so that it can be freed alone. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function contentSize(buffer: Buffer, at: number, bytes: number): number | null {
  if (bytes === 0) return null;
  if (bytes === 2) return buffer.readUInt16LE(at) + 256;
  if (bytes !== 8) return buffer.readUIntLE(at, bytes);
  const size = buffer.readBigUInt64LE(at);
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged("a zstd frame declares an impossible size");
  return Number(size);
}

function damaged(message: string): DamagedCiphertext {
  return new DamagedCiphertext("zstd_damaged", message);
}
