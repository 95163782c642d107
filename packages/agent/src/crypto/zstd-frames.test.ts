import { randomBytes } from "node:crypto";
import { constants, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect, inPieces } from "../../test/pieces.ts";
import { compress } from "./compress.ts";
import { DamagedCiphertext } from "./damaged.ts";
import { decompress } from "./decompress.ts";
import { MAX_WHOLE_FRAME, ZstdFrameWalker } from "./zstd-frames.ts";

const decode = (bytes: Buffer, size = bytes.length + 1): Promise<Buffer> =>
  collect(decompress(inPieces(bytes, size)));

async function damageOf(work: Promise<Buffer>): Promise<DamagedCiphertext> {
  const error: unknown = await work.then(
    (bytes) => new Error(`it was accepted, as ${bytes.length} bytes`),
    (reason: unknown) => reason,
  );
  if (error instanceof DamagedCiphertext) return error;
  throw error;
}

function frame(content: Uint8Array, options: { checksum?: boolean; level?: number } = {}): Buffer {
  return zstdCompressSync(content, {
    params: {
      [constants.ZSTD_c_checksumFlag]: options.checksum === false ? 0 : 1,
      [constants.ZSTD_c_compressionLevel]: options.level ?? 3,
    },
  });
}

function skippable(bytes: number, low = 0): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x184d2a50 + low, 0);
  header.writeUInt32LE(bytes, 4);
  return Buffer.concat([header, Buffer.alloc(bytes, 0xff)]);
}

const text = (size: number): Buffer =>
  Buffer.alloc(size, "amber basalt cedar delta ember fjord 0123456789\n");

test("frames of any size, one after another, in pieces of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          size: fc.integer({ min: 0, max: 300_000 }),
          checksum: fc.boolean(),
          skipped: fc.integer({ min: 0, max: 40 }),
        }),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      fc.integer({ min: 1, max: 5_000 }),
      async (frames, pieceSize) => {
        const input = frames.flatMap(({ size, checksum, skipped }) => [
          skippable(skipped, skipped % 16),
          frame(text(size), { checksum }),
        ]);
        const expected = Buffer.concat(frames.map(({ size }) => text(size)));
        expect((await decode(Buffer.concat(input), pieceSize)).equals(expected)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

test("compress() writes one frame per MiB, with its size, also for incompressible data", async () => {
  for (const content of [text, randomBytes]) {
    for (const size of [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20]) {
      const input = content(size);
      const compressed = await collect(compress(inPieces(input, 70_001)));
      const walker = new ZstdFrameWalker();
      const frames = walker.push(compressed);
      walker.end();
      const sizes = frames.map((frame) => (frame.kind === "frame" ? frame.maxOutput : null));
      const whole = Array.from({ length: Math.floor(size / (1 << 20)) }, () => 1 << 20);
      const rest = size % (1 << 20);
      expect(sizes).toEqual(rest > 0 || size === 0 ? [...whole, rest] : whole);
      expect((await decode(compressed, 9_999)).equals(input)).toBe(true);
    }
  }
});

describe("a frame too large to be held whole", () => {
  test("is streamed, whether it says its size or not, among small ones", async () => {
    const large = text(MAX_WHOLE_FRAME * 4);
    for (const level of [-50, 3]) {
      const input = Buffer.concat([
        frame(text(5)),
        frame(large, { level }),
        frame(text(7)),
        frame(large, { level }),
        frame(text(0)),
      ]);
      const expected = Buffer.concat([text(5), large, text(7), large]);
      expect((await decode(input, 10_000)).equals(expected)).toBe(true);
    }
  });

  test("of a gigabyte of zeros in 33 KB is never in memory", async () => {
    const bomb = frame(Buffer.alloc(1 << 30));
    expect(bomb.length).toBeLessThan(100_000);
    const before = process.memoryUsage().rss;
    let total = 0;
    for await (const piece of decompress(inPieces(bomb, 65_536))) {
      expect(piece.length).toBeLessThanOrEqual(MAX_WHOLE_FRAME);
      total += piece.length;
    }
    expect(total).toBe(1 << 30);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20);
  });

  test("is found to be damaged", async () => {
    const large = frame(text(MAX_WHOLE_FRAME * 4), { level: -50 });
    for (const at of [large.length >> 1, large.length - 2]) {
      const changed = Buffer.from(large);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      expect((await damageOf(decode(changed, 10_000))).code).toMatch(/zstd_damaged|trailing_data/);
    }
    expect((await damageOf(decode(large.subarray(0, -1), 10_000))).code).toBe("zstd_damaged");
    expect((await damageOf(decode(Buffer.concat([large, Buffer.from("x")]), 10_000))).code).toBe(
      "zstd_damaged",
    );
    expect((await damageOf(decode(Buffer.concat([large, Buffer.from("more than five")]), 10_000))).code).toBe(
      "trailing_data",
    );
  });
});

describe("damage", () => {
  test("a cut anywhere is found", async () => {
    const bytes = Buffer.concat([frame(text(300)), skippable(3), frame(text(0)), frame(text(50_000))]);
    const ends = [frame(text(300)).length, frame(text(300)).length + skippable(3).length];
    ends.push(ends[1]! + frame(text(0)).length);
    for (let length = 0; length < bytes.length; length++) {
      // A cut between two frames leaves whole frames: that nothing is missing then, the age
      // payload's end says.
      if (ends.includes(length)) continue;
      expect((await damageOf(decode(bytes.subarray(0, length)))).code, `cut at ${length}`).toBe(
        "zstd_damaged",
      );
    }
  });

  test("garbage after the last frame is found, which Node's decoder would not", async () => {
    for (const garbage of ["x", "xxxx", "xxxxx", "a whole line of it\n", "\0\0\0\0\0"]) {
      expect((await damageOf(decode(Buffer.concat([frame(text(1000)), Buffer.from(garbage)])))).code).toMatch(
        /zstd_damaged|trailing_data/,
      );
    }
  });

  test("any change is found, or changes nothing", async () => {
    const content = text(200_000);
    const bytes = Buffer.concat([frame(content), frame(text(9))]);
    const expected = Buffer.concat([content, text(9)]);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, mask) => {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ mask;
          const result = await decode(changed, 1_000).catch((error: unknown) => error);
          // Bit 4 of a frame header means nothing to decoders (RFC 8878, 3.1.1.1.1.3).
          if (Buffer.isBuffer(result)) expect(result.equals(expected)).toBe(true);
          else expect(result).toBeInstanceOf(DamagedCiphertext);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("arbitrary bytes give typed errors only", async () => {
    const start = fc.constantFrom(
      [],
      [0x28, 0xb5, 0x2f, 0xfd],
      [0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00],
      [0x28, 0xb5, 0x2f, 0xfd, 0xe4],
      [0x50, 0x2a, 0x4d, 0x18],
    );
    await fc.assert(
      fc.asyncProperty(
        start,
        fc.uint8Array({ maxLength: 400 }),
        fc.integer({ min: 1, max: 50 }),
        async (magic, rest, pieceSize) => {
          const result = await decode(Buffer.from([...magic, ...rest]), pieceSize).catch(
            (error: unknown) => error,
          );
          if (!Buffer.isBuffer(result)) expect(result).toBeInstanceOf(DamagedCiphertext);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("a frame that needs a dictionary, or a window beyond 128 MiB, is refused", async () => {
    const dictionary = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x21, 0x07, 0x01, 0x09, 0x00, 0x00, 0x41]);
    expect((await damageOf(decode(dictionary))).message).toContain("dictionary");
    // Window descriptor 0xF8: 2^41 bytes, a raw block of one byte.
    const window = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x09, 0x00, 0x00, 0x41]);
    expect((await damageOf(decode(window))).code).toBe("zstd_damaged");
  });
});
