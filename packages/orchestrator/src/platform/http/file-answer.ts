import type { Readable } from "node:stream";

/** An answer that is not JSON. */
export interface FileAnswer {
  status: number;
  /** With its `content-type`. */
  headers: Readonly<Record<string, string>>;
  /**
   * A stream that fails half-way cuts the connection, so that nobody takes the part for the whole.
   */
  content: Buffer | Readable;
}
