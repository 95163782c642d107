import { crc32, inflateRaw as inflate } from "node:zlib";

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
      else reject(new Error("there is data after its compressed bytes"));
    });
  });
}
