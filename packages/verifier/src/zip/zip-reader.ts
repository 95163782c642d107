import { crc32, inflateRaw } from "#inflate";
import { parseDirectory, type ZipEntry, type ZipTree } from "./directory.ts";
import { MAX_END, parseEnd } from "./end-record.ts";
import { MAX_AROUND, packedBytes } from "./local-header.ts";
import { ZipError } from "./zip-error.ts";
import type { ZipSource } from "./zip-source.ts";

/** The most bytes that a pack may unpack to. */
const MAX_TOTAL = 64 * 1024 ** 3;
/** The most bytes of macOS's extra files: of one, and of all together. */
const MAX_PASSED_OVER = 1024 * 1024;
const MAX_PASSED_OVER_TOTAL = 256 * 1024 * 1024;

/**
 * Reads a ZIP from an untrusted source. It checks the whole directory before reading a file, and
 * each file's headers, size and CRC. It never unpacks more than the allowed size, whatever sizes
 * the ZIP claims.
 */
export class ZipReader {
  /** How many entries belong to macOS alone. */
  readonly passedOver: number;
  readonly #source: ZipSource;
  readonly #files: ReadonlyMap<string, ZipEntry>;

  private constructor(source: ZipSource, { files, passedOver }: ZipTree) {
    this.#source = source;
    this.#files = files;
    this.passedOver = passedOver.length;
  }

  /** Reads a ZIP's directory. Closes the source with itself. Throws ZipError. */
  static async open(source: ZipSource): Promise<ZipReader> {
    try {
      const { size } = source;
      const tail = await source.read(Math.max(0, size - MAX_END), Math.min(size, MAX_END));
      const place = parseEnd(tail, size);
      const tree = parseDirectory(await source.read(place.start, place.size), place);
      if (sizeOf(tree.files.values()) > MAX_TOTAL) throw new ZipError("it would unpack to more than 64 GiB");
      if (sizeOf(tree.passedOver) > MAX_PASSED_OVER_TOTAL)
        throw new ZipError("it has more files of macOS than of a pack");
      const reader = new ZipReader(source, tree);
      // Nobody reads these, so check here that nothing is hidden around them.
      for (const entry of [...tree.folders, ...tree.passedOver])
        await reader.#bytesOf(entry, MAX_PASSED_OVER);
      return reader;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** Paths of all files, sorted. */
  paths(): string[] {
    return [...this.#files.keys()];
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /**
   * Returns a file's bytes. Throws ZipError, also if the file is missing or larger than `limit`.
   */
  async read(path: string, limit: number): Promise<Uint8Array> {
    const entry = this.#files.get(path);
    if (entry === undefined) throw new ZipError(`it does not contain ${path}`);
    return this.#bytesOf(entry, limit);
  }

  async #bytesOf(entry: ZipEntry, limit: number): Promise<Uint8Array> {
    const { name, size, compressed, offset, end, nameLength } = entry;
    if (size > limit) throw new ZipError(`${name} has more than ${limit} bytes`);
    // Deflated data is hardly larger than what it unpacks to.
    if (compressed > size + 1024 + size / 1000)
      throw new ZipError(`${name} is larger compressed than uncompressed`);
    if (end - offset > MAX_AROUND + nameLength + compressed)
      throw new ZipError(`there is data after ${name} that belongs to no file`);
    const packed = packedBytes(await this.#source.read(offset, end - offset), entry);
    const bytes = entry.method === 0 ? packed : await inflated(packed, entry);
    if (bytes.length !== size || crc32(bytes) !== entry.crc)
      throw new ZipError(`${name} is damaged: its size or CRC differs from the directory's`);
    return bytes;
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

function sizeOf(entries: Iterable<ZipEntry>): number {
  let total = 0;
  for (const { size } of entries) total += size;
  return total;
}

async function inflated(packed: Uint8Array, { name, size }: ZipEntry): Promise<Uint8Array> {
  try {
    return await inflateRaw(packed, size);
  } catch (error) {
    throw new ZipError(`${name} cannot be unpacked: ${error instanceof Error ? error.message : "defect"}`);
  }
}
