import { concatBytes } from "@attestore/proof";

/**
 * Unpacks deflated data. Rejects if it does not unpack to at most this many bytes, or if something
 * follows it, which the browser refuses by itself.
 */
export async function inflateRaw(packed: Uint8Array<ArrayBuffer>, most: number): Promise<Uint8Array> {
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = unpacked.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatBytes(...pieces);
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("it unpacks to more than its size");
    }
    pieces.push(value);
  }
}

/**
 * Unpacks deflated data as it comes. Rejects if something follows the data. The caller counts what
 * it gets.
 */
export async function* inflateChunks(
  packed: AsyncIterable<Uint8Array>,
  _length: number,
): AsyncGenerator<Uint8Array> {
  const pieces = packed[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
  });
  const reader = stream.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
  return value;
});

/** As ZIP files have it. `before` is that of the bytes before these. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let crc = before ^ 0xffff_ffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffff_ffff) >>> 0;
}
