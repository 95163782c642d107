/**
 * Reusable buffers of one size: otherwise a 2 GiB dump would allocate and drop 2 GiB of buffers.
 */
export class BlockPool {
  readonly #size: number;
  readonly #free: Buffer[] = [];
  constructor(size: number) {
    this.#size = size;
  }
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#size);
  }
  /** Returns a block, or a view that begins where the block does. */
  give(block: Buffer): void {
    this.#free.push(Buffer.from(block.buffer, 0, this.#size));
  }
}

/**
 * Cuts a stream into blocks of `size` bytes (the last one is shorter), however the stream is
 * divided.
 */
export async function* cutIntoBlocks(
  source: AsyncIterable<Uint8Array>,
  size: number,
  pool: BlockPool,
): AsyncGenerator<Buffer, void, undefined> {
  let block = pool.take();
  let filled = 0;
  for await (const piece of source) {
    let from = 0;
    while (from < piece.length) {
      const take = Math.min(size - filled, piece.length - from);
      block.set(from === 0 && take === piece.length ? piece : piece.subarray(from, from + take), filled);
      filled += take;
      from += take;
      if (filled === size) {
        yield block;
        block = pool.take();
        filled = 0;
      }
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

/**
 * Frees a buffer's memory now, if no other buffer shares it. The garbage collector would free it
 * late, and run often: it treats a stream of megabyte buffers as an emergency. Nothing may use the
 * buffer afterwards.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer;
  // Node also cuts buffers shorter than half its pool from that pool, which others use too.
  const isAlone = memory.byteLength > Buffer.poolSize || buffer.length >= Buffer.poolSize >>> 1;
  if (isAlone && memory instanceof ArrayBuffer) memory.transfer(0);
}
