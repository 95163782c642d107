import type { Writable } from "node:stream";
import { errorCode } from "@attestore/host/errno";

/**
 * Writes pieces to a child's stdin, waiting for each before asking for the next, and ends it.
 * A child that stops reading early does not stop us: the rest is read and dropped, because only the
 * end of the pieces shows that they were whole. The child's exit code tells whether it was right to
 * stop.
 */
export async function feed(stdin: Writable, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  let reading = true;
  for await (const piece of pieces) {
    if (reading) reading = await writePiece(stdin, piece);
  }
  stdin.end();
}

/** Resolves once the piece is written; false if the child reads no more. */
export function writePiece(stdin: Writable, piece: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    if (stdin.destroyed || stdin.writableEnded) {
      resolve(false);
      return;
    }
    stdin.write(piece, (error) => {
      if (error === null || error === undefined) resolve(true);
      else if (isBrokenPipe(error)) resolve(false);
      else reject(error);
    });
  });
}

function isBrokenPipe(error: Error): boolean {
  const code = errorCode(error);
  return (
    code === "EPIPE" ||
    code === "ECONNRESET" ||
    // A socket was closed while this was on its way.
    code === "ECANCELED" ||
    code === "ERR_STREAM_DESTROYED" ||
    code === "ERR_STREAM_WRITE_AFTER_END"
  );
}
