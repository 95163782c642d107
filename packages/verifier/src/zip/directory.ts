import { isPackPath } from "@attestore/proof";
import { ZipError } from "./zip-error.ts";

/** A file in a ZIP, as the directory tells of it. */
export interface ZipEntry {
  path: string;
  method: 0 | 8;
  crc: number;
  compressed: number;
  size: number;
  /** Where its local header begins. */
  offset: number;
  /** What the local header has to say too: flags, method, time, CRC, sizes (section 4.3.7). */
  common: Buffer;
}

/** Where the directory lies. It ends where the end record begins. */
export interface DirectoryPlace {
  start: number;
  size: number;
  count: number;
}

export const MAX_ENTRIES = 1_000_000;
export const MAX_DIRECTORY = 300 * 1024 * 1024;
/** The end record, the ZIP64 locator and the ZIP64 end record. */
export const MAX_END = 22 + 20 + 56;

/**
 * Reads the end of a file of `fileSize` bytes (APPNOTE 6.3.10, sections 4.3.14 to 4.3.16). Strict: no comment, nothing after it, one
 * disk, the ZIP64 records exactly where one of the fields has its largest value, and the directory right in front.
 */
export function parseEnd(tail: Buffer, fileSize: number): DirectoryPlace {
  const at = tail.length - 22;
  if (at < 0 || tail.readUInt32LE(at) !== 0x06054b50) fail("it does not end as a ZIP without a comment does");
  const [disk, directoryDisk, here, count] = [4, 6, 8, 10].map((offset) => tail.readUInt16LE(at + offset));
  const [size, start] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  if (disk !== 0 || directoryDisk !== 0 || here !== count || tail.readUInt16LE(at + 20) !== 0)
    fail("its end record is not that of a ZIP in one piece");
  const is64 = count === 0xffff || size === 0xffff_ffff || start === 0xffff_ffff;
  const place = is64 ? parseEnd64(tail, at, fileSize) : { start, size, count: count ?? 0 };
  const end = fileSize - (is64 ? MAX_END : 22);
  if (place.start + place.size !== end) fail("its directory does not lie right in front of its end");
  if (place.count > MAX_ENTRIES || place.size > MAX_DIRECTORY) fail(`it has more than ${MAX_ENTRIES} files`);
  return place;
}

function parseEnd64(tail: Buffer, at: number, fileSize: number): DirectoryPlace {
  const locator = at - 20;
  const record = locator - 56;
  if (record < 0 || tail.readUInt32LE(locator) !== 0x07064b50 || tail.readUInt32LE(record) !== 0x06064b50)
    return fail("its ZIP64 records are not where they have to be");
  const isOne =
    tail.readUInt32LE(locator + 4) === 0 &&
    tail.readUInt32LE(locator + 16) === 1 &&
    number64(tail, locator + 8) === fileSize - MAX_END &&
    number64(tail, record + 4) === 44 &&
    tail.readUInt32LE(record + 16) === 0 &&
    tail.readUInt32LE(record + 20) === 0 &&
    number64(tail, record + 24) === number64(tail, record + 32);
  if (!isOne) fail("its ZIP64 records contradict themselves");
  return {
    count: number64(tail, record + 32),
    size: number64(tail, record + 40),
    start: number64(tail, record + 48),
  };
}

/**
 * The files of a directory (section 4.3.12). Strict: plain files stored or deflated, no encryption, no sizes that come later, no
 * comments, no extra fields but the ZIP64 offset where it is needed; paths as packs have them, each once whatever the letters'
 * case, and none a directory of another; and together they fill the space up to the directory without a gap.
 */
export function parseDirectory(bytes: Buffer, { start, count }: DirectoryPlace): ZipEntry[] {
  const entries: ZipEntry[] = [];
  const files = new Set<string>();
  const folders = new Set<string>();
  let at = 0;
  let next = 0;
  for (let n = 0; n < count; n += 1) {
    const { entry, end } = parseEntry(bytes, at);
    at = end;
    if (entry.offset !== next) fail(`${entry.path} does not begin where the file before it ends`);
    next = endOf(entry);
    if (next > start) fail(`${entry.path} reaches into the directory`);
    const folded = entry.path.toLowerCase();
    if (files.has(folded)) fail(`${entry.path} is in it twice`);
    files.add(folded);
    for (let cut = folded.indexOf("/"); cut !== -1; cut = folded.indexOf("/", cut + 1))
      folders.add(folded.slice(0, cut));
    entries.push(entry);
  }
  if (at !== bytes.length) fail("its directory holds more than its files");
  if (next !== start) fail("there is something between its files and its directory");
  for (const folder of folders) if (files.has(folder)) fail(`${folder} is a file and a folder`);
  return entries;
}

const LOCAL = 30;

function endOf({ offset, path, compressed }: ZipEntry): number {
  return offset + LOCAL + path.length + compressed;
}

function parseEntry(bytes: Buffer, at: number): { entry: ZipEntry; end: number } {
  if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50) fail("its directory is cut short");
  const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((offset) =>
    bytes.readUInt16LE(at + offset),
  );
  const end = at + 46 + nameLength + extraLength;
  if (end > bytes.length) fail("its directory is cut short");
  const path = bytes.toString("latin1", at + 46, at + 46 + nameLength);
  if (!isPackPath(path)) fail(`${JSON.stringify(path.slice(0, 100))} is not the path of a file in a pack`);
  const method = bytes.readUInt16LE(at + 10);
  const [compressed, size] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
  const attributes = bytes.readUInt32LE(at + 38);
  const isPlain =
    bytes.readUInt16LE(at + 8) === 0 &&
    (method === 0 || method === 8) &&
    commentLength === 0 &&
    bytes.readUInt16LE(at + 34) === 0 &&
    bytes.readUInt8(at + 5) === 3 &&
    attributes >>> 28 === 8 &&
    compressed !== 0xffff_ffff &&
    size !== 0xffff_ffff &&
    (method === 8 || compressed === size);
  if (!isPlain) fail(`${path} is not a plain file`);
  const offset = offsetOf(bytes, at, bytes.subarray(end - extraLength, end), path);
  const common = bytes.subarray(at + 8, at + 28);
  return {
    entry: {
      path,
      method: method === 0 ? 0 : 8,
      crc: bytes.readUInt32LE(at + 16),
      compressed,
      size,
      offset,
      common,
    },
    end,
  };
}

function offsetOf(bytes: Buffer, at: number, extra: Buffer, path: string): number {
  const offset = bytes.readUInt32LE(at + 42);
  if (offset !== 0xffff_ffff && extra.length === 0) return offset;
  const isFar =
    offset === 0xffff_ffff &&
    extra.length === 12 &&
    extra.readUInt16LE(0) === 1 &&
    extra.readUInt16LE(2) === 8;
  if (!isFar) fail(`${path} has fields that no file in a pack has`);
  const far = number64(extra, 4);
  return far >= 0xffff_ffff ? far : fail(`${path} has fields that no file in a pack has`);
}

function number64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : fail("a number in it is too large");
}

function fail(why: string): never {
  throw new ZipError(why);
}
