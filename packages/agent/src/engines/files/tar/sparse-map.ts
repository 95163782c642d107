import { MalformedArchive } from "./tar-header.ts";

/** Where the data of an archived file belong. There are zeros between and after them. */
export interface Segment {
  readonly offset: number;
  readonly length: number;
}

const MAX_SEGMENTS = 4_000_000;

/**
 * Reads the map before the data of a sparse file in GNU's pax format 1.0 ("Storing Sparse Files" in
 * GNU tar's manual): the number of segments, then offset and length of each, one decimal number per
 * line, padded to whole blocks.
 */
export class SparseMapParser {
  readonly #realSize: number;
  readonly #numbers: number[] = [];
  #text = "";
  #wanted = 1;

  constructor(realSize: number) {
    this.#realSize = realSize;
  }

  /**
   * Null while the map is not complete.
   * @throws MalformedArchive
   */
  push(block: Buffer): readonly Segment[] | null {
    const lines = (this.#text + block.toString("latin1")).split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      if (this.#numbers.length === this.#wanted) throw malformed();
      if (!/^(?:0|[1-9][0-9]{0,14})$/.test(line)) throw malformed();
      this.#numbers.push(Number(line));
      if (this.#numbers.length === 1) this.#wanted = 1 + 2 * Number(line);
      if (this.#wanted > 2 * MAX_SEGMENTS) throw malformed();
    }
    if (this.#numbers.length < this.#wanted) {
      if (rest.length > 16) throw malformed();
      this.#text = rest;
      return null;
    }
    if (!/^\0*$/.test(rest)) throw malformed();
    return this.#segments();
  }

  #segments(): Segment[] {
    const segments: Segment[] = [];
    let end = 0;
    for (let index = 1; index < this.#numbers.length; index += 2) {
      const offset = this.#numbers[index] ?? 0;
      const length = this.#numbers[index + 1] ?? 0;
      if (offset < end || offset + length > this.#realSize) throw malformed();
      end = offset + length;
      if (length > 0) segments.push({ offset, length });
    }
    return segments;
  }
}

function malformed(): MalformedArchive {
  return new MalformedArchive("the map of a sparse file is malformed");
}
