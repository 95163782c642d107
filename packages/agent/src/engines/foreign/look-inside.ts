import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { errorCode } from "@attestore/host/errno";
import { DamagedCiphertext } from "../../crypto/damaged.ts";
import { decompress } from "../../crypto/decompress.ts";
import { RestoreRefused } from "../engine.ts";
import { peekStart } from "../peek-start.ts";
import { type Compression, compressionOf, HEAD_BYTES, nameOfUnknown, type Sniffed, sniff } from "./sniff.ts";

export interface LookedInside extends Sniffed {
  readonly compression: Compression;
  /** All of the content, decompressed. */
  readonly content: AsyncIterable<Buffer>;
  /** For a caller that does not want the content. */
  close(): Promise<void>;
}

/**
 * Finds out what a dump is, and decompresses it.
 * @throws RestoreRefused if it can't be restored.
 */
export async function lookInside(content: AsyncIterable<Buffer>): Promise<LookedInside> {
  const outer = await peekStart(content, HEAD_BYTES);
  const compression = compressionOf(outer.head);
  const inner =
    compression === "none" ? outer : await peekStart(decompressed(outer.content, compression), HEAD_BYTES);
  const found = sniff(inner.head);
  if (found !== null) return { ...found, compression, content: inner.content, close: inner.close };
  await inner.close();
  throw new RestoreRefused(`the dump cannot be restored here: ${nameOfUnknown(inner.head)}`);
}

async function* decompressed(
  content: AsyncIterable<Buffer>,
  compression: Exclude<Compression, "none">,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    if (compression === "zstd") {
      yield* decompress(content);
      return;
    }
    const copied = new Copied(content);
    const pieces = copied.pieces();
    const source = Readable.from(pieces, { objectMode: true });
    const gunzip = createGunzip({ chunkSize: 1 << 20 });
    source.once("error", (error) => gunzip.destroy(error));
    try {
      for await (const piece of source.pipe(gunzip)) yield piece as Buffer;
      for await (const _ of pieces);
      if (copied.end > gunzip.bytesWritten)
        throw new RestoreRefused(
          "the dump has more after its end than zeros (gzip): a part of it may be lost",
        );
    } finally {
      // This closes the file that it reads from, even if nobody wants the rest.
      source.destroy();
    }
  } catch (error) {
    const isOfGzip = (errorCode(error) ?? "").startsWith("Z_");
    if (!isOfGzip && !(error instanceof DamagedCiphertext && error.code !== "digest_mismatch")) throw error;
    throw new RestoreRefused(`the dump does not decompress to its end (${compression})`);
  }
}

/**
 * A piece is valid only until the next one is requested, and a stream keeps what it was given.
 * Zeros may follow a file: gzip ignores them. Where something follows them, they may have taken
 * the place of a member's beginning.
 */
class Copied {
  /** After the last byte that is not zero. */
  end = 0;
  readonly #content: AsyncIterable<Buffer>;

  constructor(content: AsyncIterable<Buffer>) {
    this.#content = content;
  }

  async *pieces(): AsyncGenerator<Buffer, void, undefined> {
    let at = 0;
    for await (const piece of this.#content) {
      const last = piece.findLastIndex((byte) => byte !== 0);
      if (last !== -1) this.end = at + last + 1;
      at += piece.length;
      yield Buffer.from(piece);
    }
  }
}
