import { pipeline, Readable } from "node:stream";
import { crc32, createInflateRaw, inflateRaw as inflate } from "node:zlib";

export { crc32 };

/**
 * Unpacks deflated data. Rejects if it does not unpack to at most this many bytes, or if something
 * follows it.
 */
export function inflateRaw(packed: Uint8Array, most: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    inflate(packed, { maxOutputLength: Math.max(1, most), info: true }, (error, result: unknown) => {
      if (error !== null) return reject(error);
      const { buffer, engine } = result as { buffer: Uint8Array; engine: { bytesWritten: number } };
      if (engine.bytesWritten === packed.length) resolve(buffer);
      else reject(behind());
    });
  });
}

/**
 * Unpacks `length` bytes of deflated data as they come. Rejects if something follows the data. The
 * caller counts what it gets.
 */
export async function* inflateChunks(
  packed: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array> {
  const engine = createInflateRaw();
  // The error is thrown where the bytes are read.
  const unpacked = pipeline(Readable.from(packed), engine, () => undefined);
  for await (const piece of unpacked as AsyncIterable<Uint8Array>) yield piece;
  if (engine.bytesWritten !== length) throw behind();
}

function behind(): Error {
  return new Error("there is data after its compressed bytes");
}
