import { number64, uint16, uint32 } from "./little-endian.ts";
import { fail } from "./zip-error.ts";

/** Where the directory is. It ends where the end record or the ZIP64 end record begins. */
export interface DirectoryPlace {
  start: number;
  size: number;
  count: number;
}

export const MAX_ENTRIES = 1_000_000;
export const MAX_DIRECTORY = 300 * 1024 * 1024;
/** The sizes of the end record, the ZIP64 locator and the ZIP64 end record. */
export const MAX_END = 22 + 20 + 56;

/** A field with its largest value means that the ZIP64 record has the real one. */
const LARGEST_16 = 0xffff;
const LARGEST_32 = 0xffff_ffff;

/**
 * Reads the end of a file of `fileSize` bytes (APPNOTE 6.3.10, sections 4.3.14 to 4.3.16). It is
 * strict: no comment, nothing after the record, one disk, ZIP64 records that agree with the end
 * record, and the directory right before it.
 */
export function parseEnd(tail: Uint8Array, fileSize: number): DirectoryPlace {
  const at = tail.length - 22;
  if (at < 0 || uint32(tail, at) !== 0x06054b50) fail("it does not end like a ZIP without a comment");
  const [disk, directoryDisk, here, count = 0] = [4, 6, 8, 10].map((offset) => uint16(tail, at + offset));
  const [size, start] = [uint32(tail, at + 12), uint32(tail, at + 16)];
  if (disk !== 0 || directoryDisk !== 0 || here !== count || uint16(tail, at + 20) !== 0)
    fail("its end record is not that of a single-part ZIP");
  const short = { start, size, count };
  const is64 = at >= 20 && uint32(tail, at - 20) === 0x07064b50;
  const place = is64 ? parseEnd64(tail, at, fileSize, short) : short;
  const end = fileSize - (is64 ? MAX_END : 22);
  if (place.start + place.size !== end) fail("its directory is not right before its end");
  if (place.count > MAX_ENTRIES || place.size > MAX_DIRECTORY) fail(`it has more than ${MAX_ENTRIES} files`);
  return place;
}

function parseEnd64(tail: Uint8Array, at: number, fileSize: number, short: DirectoryPlace): DirectoryPlace {
  const locator = at - 20;
  const record = locator - 56;
  if (record < 0 || uint32(tail, record) !== 0x06064b50)
    return fail("its ZIP64 records are in the wrong place");
  const isOne =
    uint32(tail, locator + 4) === 0 &&
    uint32(tail, locator + 16) === 1 &&
    number64(tail, locator + 8) === fileSize - MAX_END &&
    number64(tail, record + 4) === 44 &&
    uint32(tail, record + 16) === 0 &&
    uint32(tail, record + 20) === 0 &&
    number64(tail, record + 24) === number64(tail, record + 32);
  const place = {
    count: number64(tail, record + 32),
    size: number64(tail, record + 40),
    start: number64(tail, record + 48),
  };
  const agrees =
    (short.count === LARGEST_16 || short.count === place.count) &&
    (short.size === LARGEST_32 || short.size === place.size) &&
    (short.start === LARGEST_32 || short.start === place.start);
  if (!isOne || !agrees) fail("its ZIP64 records contradict themselves");
  return place;
}
