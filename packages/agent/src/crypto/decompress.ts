import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress } from "node:zlib";
import { release } from "../processes/blocks.ts";
import { DamagedCiphertext } from "./damaged.ts";
import { type FrameSegment, ZstdFrameWalker } from "./zstd-frames.ts";

const FRAMES_AT_ONCE = 12;
/** The largest window that is decoded: 128 MiB, the zstd program's default. */
const STREAM_CHUNK_BYTES = 1 << 20;

const decompressFrame = promisify(zstdDecompress);

type Part = Extract<FrameSegment, { kind: "part" }>;

/**
 * Decodes any sequence of zstd frames; small frames in parallel, a large one as a stream. A piece
 * of output is valid until the next one is requested. Only the generator's return means that the
 * data was whole.
 * @throws DamagedCiphertext `zstd_damaged`, `trailing_data`.
 */
export async function* decompress(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const segments = walk(source);
  const running: Promise<Buffer>[] = [];
  try {
    for (let next = await segments.next(); next.done !== true; next = await segments.next()) {
      const segment = next.value;
      if (segment.kind === "part") {
        for (const output of running.splice(0)) yield* once(await output);
        yield* decodeStreamed(segment, segments);
        continue;
      }
      const output = decodeWhole(segment.bytes, segment.maxOutput);
      // Its rejection is handled when its turn comes; until then it must not count as unhandled.
      output.catch(() => undefined);
      running.push(output);
      if (running.length >= FRAMES_AT_ONCE) {
        const first = running.shift();
        if (first !== undefined) yield* once(await first);
      }
    }
    for (const output of running.splice(0)) yield* once(await output);
  } finally {
    await Promise.allSettled(running);
    await segments.return();
  }
}

function* once(output: Buffer): Generator<Buffer, void, undefined> {
  yield output;
  release(output);
}

async function* walk(source: AsyncIterable<Buffer>): AsyncGenerator<FrameSegment, void, undefined> {
  const walker = new ZstdFrameWalker();
  for await (const piece of source) yield* walker.push(piece);
  walker.end();
}

async function decodeWhole(frame: Buffer, maxOutput: number): Promise<Buffer> {
  try {
    // chunkSize has a minimum, and one byte more than the content lets the decoder end in a single
    // call.
    return await decompressFrame(frame, {
      maxOutputLength: Math.max(maxOutput, 1),
      chunkSize: Math.max(maxOutput + 1, 64),
    });
  } catch (error) {
    throw zstdDamage(error);
  } finally {
    release(frame);
  }
}

async function* decodeStreamed(
  first: Part,
  segments: AsyncGenerator<FrameSegment, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = createZstdDecompress({ chunkSize: STREAM_CHUNK_BYTES });
  const feeding = pipeline(partsOfOneFrame(first, segments), decoder);
  feeding.catch(() => undefined);
  try {
    for await (const output of decoder) yield output as Buffer;
    await feeding;
  } catch (error) {
    throw zstdDamage(error);
  } finally {
    decoder.destroy();
    await feeding.catch(() => undefined);
  }
}

async function* partsOfOneFrame(
  first: Part,
  segments: AsyncGenerator<FrameSegment, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  yield first.bytes;
  for (let last = first.last; !last;) {
    const next = await segments.next();
    if (next.done === true || next.value.kind !== "part")
      throw new Error("a streamed zstd frame ended without its last part");
    yield next.value.bytes;
    last = next.value.last;
  }
}

function zstdDamage(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return error;
  if (
    !error.code.startsWith("ZSTD_error_") &&
    error.code !== "ERR_BUFFER_TOO_LARGE" &&
    error.code !== "Z_BUF_ERROR"
  )
    return error;
  return new DamagedCiphertext("zstd_damaged", `a zstd frame does not decode (${error.code})`, {
    cause: error,
  });
}
