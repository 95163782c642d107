import type { Readable } from "node:stream";

/** An answer that is not JSON. */
export interface FileAnswer {
  status: number;
  /** With its `content-type`. */
  headers: Readonly<Record<string, string>>;
  /**
   * If the stream fails half-way, the connection is cut, so nobody takes the part for the whole.
   */
  content: Buffer | Readable;
}
