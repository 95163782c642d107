import { open, type FileHandle } from "node:fs/promises";
import { crc32, inflateRaw } from "node:zlib";
import { MAX_END, parseDirectory, parseEnd, type ZipEntry } from "./directory.ts";
import { ZipError } from "./zip-error.ts";

/** All that a pack may unpack to. */
const MAX_TOTAL = 64 * 1024 ** 3;

/**
 * A ZIP that may be anybody's. Everything in its directory is checked before a file is read, and of each file the local header, its
 * size and its CRC; of the sizes that it claims no more than allowed is ever unpacked.
 */
export class ZipReader {
  readonly #file: FileHandle;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  private constructor(file: FileHandle, entries: readonly ZipEntry[]) {
    this.#file = file;
    this.#entries = new Map(entries.map((entry) => [entry.path, entry]));
  }

  /** Throws ZipError; what the file system says as it is. */
  static async open(path: string): Promise<ZipReader> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const tail = await readAt(file, Math.max(0, size - MAX_END), Math.min(size, MAX_END));
      const place = parseEnd(tail, size);
      const entries = parseDirectory(await readAt(file, place.start, place.size), place);
      if (entries.reduce((sum, entry) => sum + entry.size, 0) > MAX_TOTAL)
        throw new ZipError("it would unpack to more than 64 GiB");
      return new ZipReader(file, entries);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** In their order. */
  paths(): string[] {
    return [...this.#entries.keys()];
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /** A file's bytes. Throws ZipError, also for one that is not there or larger than `limit`. */
  async read(path: string, limit: number): Promise<Buffer> {
    const entry = this.#entries.get(path);
    if (entry === undefined) throw new ZipError(`${path} is not in it`);
    if (entry.size > limit) throw new ZipError(`${path} has more than ${limit} bytes`);
    // What is deflated takes hardly more room than what it unpacks to.
    if (entry.compressed > entry.size + 1024) throw new ZipError(`${path} is larger packed than unpacked`);
    const header = await readAt(this.#file, entry.offset, 30 + entry.path.length + entry.compressed);
    requireSameHeader(header, entry);
    const packed = header.subarray(30 + entry.path.length);
    const bytes = entry.method === 0 ? packed : await inflated(packed, entry);
    if (bytes.length !== entry.size || crc32(bytes) !== entry.crc)
      throw new ZipError(`${path} is damaged: its size or CRC is not the one in the directory`);
    return bytes;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Section 4.3.7: the same as in the directory, and no extra field. */
function requireSameHeader(header: Buffer, { path, common }: ZipEntry): void {
  const isSame =
    header.readUInt32LE(0) === 0x04034b50 &&
    header.subarray(6, 26).equals(common) &&
    header.readUInt16LE(26) === path.length &&
    header.readUInt16LE(28) === 0 &&
    header.toString("latin1", 30, 30 + path.length) === path;
  if (!isSame) throw new ZipError(`${path} says otherwise in front of its bytes than in the directory`);
}

/** Unpacks, and tells how many of the packed bytes that took. */
function inflate(packed: Buffer, maxOutputLength: number): Promise<{ buffer: Buffer; used: number }> {
  return new Promise((resolve, reject) => {
    inflateRaw(packed, { maxOutputLength, info: true }, (error, result: unknown) => {
      if (error) reject(error);
      else {
        const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
        resolve({ buffer, used: engine.bytesWritten });
      }
    });
  });
}

async function inflated(packed: Buffer, { path, size }: ZipEntry): Promise<Buffer> {
  try {
    const { buffer, used } = await inflate(packed, Math.max(1, size));
    if (used !== packed.length) throw new ZipError(`${path} has something behind its compressed bytes`);
    return buffer;
  } catch (error) {
    if (error instanceof ZipError) throw error;
    throw new ZipError(`${path} cannot be unpacked: ${error instanceof Error ? error.message : "defect"}`);
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(buffer, at, length - at, position + at);
    if (bytesRead === 0) throw new ZipError("it is shorter than it says");
    at += bytesRead;
  }
  return buffer;
}
