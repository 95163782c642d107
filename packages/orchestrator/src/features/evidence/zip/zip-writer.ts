import { crc32, deflateRaw } from "node:zlib";
import { promisify } from "node:util";
import { TemporaryFile } from "./temporary-file.ts";

const deflate = promisify(deflateRaw);

/**
 * A file whose bytes are all known, or one whose size and CRC are known before its bytes come. Less
 * than 4 GiB.
 */
export type ZipFile = PackFile | { path: string; size: number; crc: number; chunks: AsyncIterable<Buffer> };

export interface PackFile {
  path: string;
  bytes: Buffer;
}

/** Smaller files would not get smaller. */
const WORTH_DEFLATING = 200;
const OUTPUT = 64 * 1024;
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;

interface Header {
  name: Buffer;
  method: number;
  crc: number;
  compressed: number;
  size: number;
  offset: number;
}

/**
 * A ZIP (APPNOTE 6.3.10) of files given one by one, in chunks. Each file's size comes before its
 * bytes, nothing comes between files, and the directory waits on disk, so memory does not grow with
 * the number of files. Uses ZIP64 from 65,535 files or 4 GiB on. Two libraries were considered:
 * yazl keeps an object for each file in memory and writes the sizes of streams after them; fflate
 * has no ZIP64.
 */
export async function* zip(files: AsyncIterable<ZipFile>, modified: Date): AsyncGenerator<Buffer> {
  const time = dosTime(modified);
  const directory = await TemporaryFile.create();
  const out = new Output();
  let count = 0;
  try {
    for await (const file of files) {
      const { header, content } = await prepared(file, out.offset);
      await directory.append(directoryHeader(header, time));
      count += 1;
      yield* out.add(localHeader(header, time));
      for await (const chunk of content) yield* out.add(chunk);
      if (out.offset !== header.offset + 30 + header.name.length + header.compressed)
        throw new Error("a file of the ZIP has another size than announced");
    }
    const start = out.offset;
    for await (const chunk of directory.read()) yield* out.add(chunk);
    yield* out.add(endOfDirectory({ count, start, size: directory.size }));
    yield* out.rest();
  } finally {
    await directory.close();
  }
}

async function prepared(
  file: ZipFile,
  offset: number,
): Promise<{ header: Header; content: AsyncIterable<Buffer> | Buffer[] }> {
  const name = Buffer.from(file.path, "ascii");
  if ("chunks" in file) {
    const { size, crc } = file;
    return { header: { name, method: 0, crc, compressed: size, size, offset }, content: file.chunks };
  }
  const { bytes } = file;
  const deflated = bytes.length < WORTH_DEFLATING ? bytes : await deflate(bytes);
  const isSmaller = deflated.length < bytes.length;
  const content = isSmaller ? deflated : bytes;
  const header = {
    name,
    method: isSmaller ? 8 : 0,
    crc: crc32(bytes),
    compressed: content.length,
    size: bytes.length,
    offset,
  };
  return { header, content: [content] };
}

/** Joins small pieces into larger chunks and counts the bytes. */
class Output {
  offset = 0;
  #parts: Buffer[] = [];
  #size = 0;

  *add(part: Buffer): Generator<Buffer> {
    this.offset += part.length;
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size >= OUTPUT) yield* this.rest();
  }

  *rest(): Generator<Buffer> {
    if (this.#size > 0) yield Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
  }
}

/** Section 4.3.7. */
function localHeader({ name, method, crc, compressed, size }: Header, time: number): Buffer {
  const bytes = Buffer.alloc(30);
  bytes.writeUInt32LE(0x04034b50, 0);
  bytes.writeUInt16LE(20, 4);
  bytes.writeUInt16LE(method, 8);
  bytes.writeUInt32LE(time, 10);
  bytes.writeUInt32LE(crc, 14);
  bytes.writeUInt32LE(compressed, 18);
  bytes.writeUInt32LE(size, 22);
  bytes.writeUInt16LE(name.length, 26);
  return Buffer.concat([bytes, name]);
}

/** Section 4.3.12; beyond 4 GiB the offset is in a ZIP64 field (section 4.5.3). */
function directoryHeader({ name, method, crc, compressed, size, offset }: Header, time: number): Buffer {
  const isFar = offset >= MAX_32;
  const extra = Buffer.alloc(isFar ? 12 : 0);
  if (isFar) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(8, 2);
    extra.writeBigUInt64LE(BigInt(offset), 4);
  }
  const bytes = Buffer.alloc(46);
  bytes.writeUInt32LE(0x02014b50, 0);
  // Made on Unix, where the permissions of section 4.4.15 apply: a plain file, 0644.
  bytes.writeUInt16LE((3 << 8) | 45, 4);
  bytes.writeUInt16LE(isFar ? 45 : 20, 6);
  bytes.writeUInt16LE(method, 10);
  bytes.writeUInt32LE(time, 12);
  bytes.writeUInt32LE(crc, 16);
  bytes.writeUInt32LE(compressed, 20);
  bytes.writeUInt32LE(size, 24);
  bytes.writeUInt16LE(name.length, 28);
  bytes.writeUInt16LE(extra.length, 30);
  bytes.writeUInt32LE((0o100644 << 16) >>> 0, 38);
  bytes.writeUInt32LE(isFar ? MAX_32 : offset, 42);
  return Buffer.concat([bytes, name, extra]);
}

/** Sections 4.3.14 to 4.3.16. */
export function endOfDirectory({
  count,
  start,
  size,
}: {
  count: number;
  start: number;
  size: number;
}): Buffer {
  const needs64 = count >= MAX_16 || start >= MAX_32 || size >= MAX_32;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(needs64 ? MAX_16 : count, 8);
  end.writeUInt16LE(needs64 ? MAX_16 : count, 10);
  end.writeUInt32LE(needs64 ? MAX_32 : size, 12);
  end.writeUInt32LE(needs64 ? MAX_32 : start, 16);
  if (!needs64) return end;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE((3 << 8) | 45, 12);
  record.writeUInt16LE(45, 14);
  record.writeBigUInt64LE(BigInt(count), 24);
  record.writeBigUInt64LE(BigInt(count), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(start + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}

/** Section 4.4.6, in UTC. */
function dosTime(moment: Date): number {
  const date =
    ((moment.getUTCFullYear() - 1980) << 9) | ((moment.getUTCMonth() + 1) << 5) | moment.getUTCDate();
  const time = (moment.getUTCHours() << 11) | (moment.getUTCMinutes() << 5) | (moment.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
