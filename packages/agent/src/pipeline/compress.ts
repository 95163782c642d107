import { constants, createZstdCompress } from "node:zlib";
import { BlockPool, cutIntoBlocks, release } from "./blocks.ts";
import { mapInOrder } from "./map-in-order.ts";

/** Input bytes a frame. Costs about 1 % in size against one endless frame, and lets frames use all cores both ways. */
export const FRAME_INPUT_BYTES = 1 << 20;
const FRAMES_AT_ONCE = 8;

const OPTIONS = {
  // One output buffer a frame, unless it hardly compresses: then a second one.
  chunkSize: (FRAME_INPUT_BYTES >> 3) * 5,
  params: {
    [constants.ZSTD_c_compressionLevel]: 3,
    [constants.ZSTD_c_checksumFlag]: 1,
    [constants.ZSTD_c_contentSizeFlag]: 1,
  },
};

/**
 * A piece is valid until the next one is asked for.
 *
 * A stream as independent zstd frames (RFC 8878) of 1 MiB of input each, which any zstd decoder reads one after another.
 * No input at all gives one empty frame: an empty file is not a zstd stream.
 */
export async function* compress(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  const pool = new BlockPool(FRAME_INPUT_BYTES);
  let frames = 0;
  const blocks = cutIntoBlocks(source, FRAME_INPUT_BYTES, pool);
  for await (const frame of mapInOrder(blocks, FRAMES_AT_ONCE, async (block) => {
    const compressed = await compressFrame(block);
    pool.give(block);
    return compressed;
  })) {
    frames += 1;
    yield* frame;
    // They are parts of one buffer, or of two.
    for (const part of frame) release(part);
  }
  if (frames === 0) yield* await compressFrame(Buffer.alloc(0));
}

/**
 * One frame, in parts that follow each other. Node's `zstdCompress` would join them, a copy of all for the seven bytes of the last part, and
 * leave the output buffer to a collector that then runs at each 30th frame.
 */
function compressFrame(block: Buffer): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    createZstdCompress({ ...OPTIONS, pledgedSrcSize: block.length })
      .on("data", (part: Buffer) => parts.push(part))
      .once("error", reject)
      .once("end", () => resolve(parts))
      .end(block);
  });
}
