import { Readable } from "node:stream";
import { release } from "./blocks.ts";

const PIECE_BYTES = 1 << 20;

/**
 * The same bytes in pieces of a MiB, except for the first and the last. A pipe delivers at most 64
 * KiB, and the cost of streams, iterators and promises for each piece does not depend on its size.
 * The first piece is passed on immediately, because it shows that the output has begun. If a source
 * keeps flowing although it was paused, as a child's output does after its exit, nothing is lost.
 */
export function coalesce(source: Readable): Readable {
  let gathered: Buffer | null = null;
  let filled = 0;
  let isFirst = true;
  const output = new Readable({
    // Otherwise a reader would get several pieces joined into one, which copies them.
    objectMode: true,
    highWaterMark: 2,
    read: () => void source.resume(),
    destroy: (error, done) => {
      source.destroy();
      done(error);
    },
  });
  const handOn = (piece: Buffer): void => {
    if (!output.push(piece)) source.pause();
  };
  const handOnGathered = (): void => {
    if (gathered !== null) handOn(gathered.subarray(0, filled));
    gathered = null;
    filled = 0;
  };
  source.on("data", (piece: Buffer) => {
    if (isFirst) {
      isFirst = false;
      handOn(piece);
      return;
    }
    for (let from = 0; from < piece.length;) {
      gathered ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
      const taken = piece.copy(gathered, filled, from);
      filled += taken;
      from += taken;
      if (filled === PIECE_BYTES) handOnGathered();
    }
    release(piece);
  });
  source.once("end", () => {
    handOnGathered();
    output.push(null);
  });
  source.once("error", (error) => output.destroy(error));
  source.once("close", () => {
    if (!source.readableEnded) output.destroy();
  });
  return output;
}

/** Frees each piece when the next one is asked for: by then the reader has used it. */
export async function* releasing(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of pieces) {
    yield piece;
    release(piece);
  }
}
