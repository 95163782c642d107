import { open } from "node:fs/promises";
import { openRegularFile } from "../trees/open.ts";

const READ_BYTES = 1 << 20;

/**
 * Reads a file in pieces, continuing while the last piece is used. A piece is valid until the next
 * one is requested: two buffers alternate, because fresh memory for each piece costs as much as
 * reading it.
 * @throws NotAFile for pipes, devices and directories, which are not even opened for reading
 */
export async function* readFilePieces(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await openRegularFile(path);
  const read = async (buffer: Buffer, position: number): Promise<Buffer> => {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    return buffer.subarray(0, bytesRead);
  };
  let buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let other = Buffer.allocUnsafeSlow(READ_BYTES);
  let position = 0;
  let next = read(buffer, position);
  try {
    for (;;) {
      const piece = await next;
      if (piece.length === 0) return;
      position += piece.length;
      [buffer, other] = [other, buffer];
      next = read(buffer, position);
      // Its rejection is handled when its turn comes.
      next.catch(() => undefined);
      yield piece;
    }
  } finally {
    // Not closed during a read.
    await next.catch(() => undefined);
    await file.close();
  }
}

export interface WriteOptions {
  readonly onBytes?: (bytes: number) => void;
  /** It is read and removed by this run, so nobody has to wait for the disk. */
  readonly isTemporary?: boolean;
}

/**
 * Writes a new file (mode 0600), fsyncs it, and returns its length. Each piece is written before
 * the next one is requested. After any error, including an abort, the caller has to remove the
 * file.
 */
export async function writeFilePieces(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  { onBytes, isTemporary = false }: WriteOptions = {},
): Promise<number> {
  signal.throwIfAborted();
  const file = await open(path, "wx", 0o600);
  let length = 0;
  try {
    for await (const piece of pieces) {
      signal.throwIfAborted();
      for (let from = 0; from < piece.length;) {
        const { bytesWritten } = await file.write(piece, from, piece.length - from, length);
        from += bytesWritten;
        length += bytesWritten;
      }
      onBytes?.(length);
    }
    signal.throwIfAborted();
    if (!isTemporary) await file.sync();
  } finally {
    await file.close();
  }
  return length;
}
