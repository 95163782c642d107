/**
 * Buffers of one size that are used again: a 2 GiB dump would otherwise allocate and drop 2 GiB of
 * them.
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
  /** Gives back a block, or a view of one that begins where the block does. */
  give(block: Buffer): void {
    this.#free.push(Buffer.from(block.buffer, 0, this.#size));
  }
}

/**
 * Cuts a stream into blocks of `size` bytes (the last one shorter), whatever the pieces it comes
 * in.
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
 * Frees a buffer's memory now, if it is alone in it. The collector would come for it late, and
 * would be called often: by what it counts as pressure, a stream of megabyte buffers is an
 * emergency. Nothing may use the buffer afterwards.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer;
  // Node cuts buffers shorter than half its pool from the pool, which others use too.
  const isAlone = memory.byteLength > Buffer.poolSize || buffer.length >= Buffer.poolSize >>> 1;
  if (isAlone && memory instanceof ArrayBuffer) memory.transfer(0);
}
