import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { RestoreRefused } from "../engine.ts";
import { collect, inPieces } from "../../../test/pieces.ts";
import { lookInside } from "./look-inside.ts";

/** A dump that others compressed, as one piece or in several. */

const FIRST = Buffer.from("SQLite format 3\0".padEnd(5000, "x"));
const SECOND = Buffer.from("more".repeat(2000));
const [first, second] = [gzipSync(FIRST), gzipSync(SECOND)];
const zeros = Buffer.alloc(4096);
const skipped = Buffer.from("502a4d180400000000000000", "hex");

async function read(bytes: Buffer, size: number): Promise<Buffer> {
  const { content } = await lookInside(inPieces(bytes, size));
  return collect(content);
}

test.each<[string, Buffer, Buffer]>([
  ["two members of gzip", Buffer.concat([first, second]), Buffer.concat([FIRST, SECOND])],
  ["a member of gzip and zeros", Buffer.concat([first, zeros]), FIRST],
  [
    "two frames of zstd",
    Buffer.concat([zstdCompressSync(FIRST), zstdCompressSync(SECOND)]),
    Buffer.concat([FIRST, SECOND]),
  ],
  ["a frame that pzstd writes first", Buffer.concat([skipped, zstdCompressSync(FIRST)]), FIRST],
])("is read to its end: %s", async (_what, bytes, content) => {
  for (const size of [7, 1 << 20]) expect((await read(bytes, size)).equals(content)).toBe(true);
});

const withFirst = (byte: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([byte]), bytes.subarray(1)]);

test.each<[string, Buffer]>([
  ["a member after zeros", Buffer.concat([first, zeros, second])],
  ["a member whose beginning is zeros", Buffer.concat([first, withFirst(0, second)])],
  ["a member that begins otherwise", Buffer.concat([first, withFirst(0x1e, second)])],
  ["a second member that is cut off", Buffer.concat([first, second.subarray(0, 9)])],
  ["other bytes after the end", Buffer.concat([first, Buffer.from("more")])],
  ["other bytes after the end of zstd", Buffer.concat([zstdCompressSync(FIRST), Buffer.from("more")])],
])("is refused: %s", async (_what, bytes) => {
  for (const size of [7, 1 << 20]) await expect(read(bytes, size)).rejects.toThrow(RestoreRefused);
});
