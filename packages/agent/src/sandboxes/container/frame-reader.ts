import type { PassThrough } from "node:stream";

const HEADER = 8;
const STDERR = 2;

/**
 * Splits the API's stream of a process without a terminal into frames: one byte for the stream (1
 * stdout, 2 stderr), three zeros, a big-endian length, and that many bytes ("Stream format" of the
 * Engine API's attach).
 */
export class FrameReader {
  readonly #stdout: PassThrough;
  readonly #stderr: PassThrough;
  #header = Buffer.alloc(0);
  #stream: PassThrough | null = null;
  #left = 0;

  constructor(stdout: PassThrough, stderr: PassThrough) {
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  /** The streams that are full: wait for `drain` before pushing more. */
  push(piece: Buffer): PassThrough[] {
    const full = new Set<PassThrough>();
    let rest = piece;
    while (rest.length > 0) {
      if (this.#stream === null || this.#left === 0) {
        const wanted = HEADER - this.#header.length;
        this.#header = Buffer.concat([this.#header, rest.subarray(0, wanted)]);
        rest = rest.subarray(wanted);
        if (this.#header.length < HEADER) break;
        this.#stream = this.#header[0] === STDERR ? this.#stderr : this.#stdout;
        this.#left = this.#header.readUInt32BE(4);
        this.#header = Buffer.alloc(0);
        continue;
      }
      const part = rest.subarray(0, this.#left);
      rest = rest.subarray(part.length);
      this.#left -= part.length;
      if (!this.#stream.write(part)) full.add(this.#stream);
    }
    return [...full];
  }
}
