import { crc32, inflateChunks, inflateRaw } from "#inflate";
import { MAX_END, parseEnd } from "./end-record.ts";
import { EntryTable } from "./entry-table.ts";
import { dataPlace, MAX_AROUND, MAX_BEFORE, requireEnd } from "./local-header.ts";
import { indexPaths, type PathIndex } from "./path-index.ts";
import type { ZipEntry } from "./read-directory.ts";
import { fail } from "./zip-error.ts";
import type { ZipSource } from "./zip-source.ts";

/** The most bytes that a pack may unpack to. */
const MAX_TOTAL = 64 * 1024 ** 3;
/** The most bytes of macOS's extra files: of one, and of all together. */
const MAX_PASSED_OVER = 1024 * 1024;
const MAX_PASSED_OVER_TOTAL = 256 * 1024 * 1024;
const CHUNK = 256 * 1024;

/**
 * Reads a ZIP from an untrusted source. It checks the whole directory before reading a file, and
 * each file's headers, size and CRC. It never unpacks more than the allowed size, whatever sizes
 * the ZIP claims. A file is known by its path, or by its number in the order of the paths. In
 * memory it takes some hundred bytes.
 */
export class ZipReader {
  /** How many entries belong to macOS alone. */
  readonly passedOver: number;
  readonly #source: ZipSource;
  readonly #table: EntryTable;
  readonly #files: PathIndex;

  private constructor(source: ZipSource, table: EntryTable, files: PathIndex, passedOver: number) {
    this.#source = source;
    this.#table = table;
    this.#files = files;
    this.passedOver = passedOver;
  }

  /** Reads a ZIP's directory. Closes the source with itself. Throws ZipError. */
  static async open(source: ZipSource): Promise<ZipReader> {
    try {
      const { size } = source;
      const tail = await source.read(Math.max(0, size - MAX_END), Math.min(size, MAX_END));
      const table = await EntryTable.read(source, parseEnd(tail, size));
      const { files, folders, passedOver } = indexPaths(table);
      const reader = new ZipReader(source, table, files, passedOver.length);
      let total = 0;
      for (let n = 0; n < files.count; n += 1) total += reader.sizeAt(n);
      if (total > MAX_TOTAL) fail("it would unpack to more than 64 GiB");
      if (passedOver.reduce((sum, n) => sum + table.size(n), 0) > MAX_PASSED_OVER_TOTAL)
        fail("it has more files of macOS than of a pack");
      // Nobody reads these, so check here that nothing is hidden around them.
      for (const entries of [folders, passedOver])
        for (const n of entries) await reader.#bytesOf(table.entry(n), MAX_PASSED_OVER);
      return reader;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** How many files there are. */
  get count(): number {
    return this.#files.count;
  }

  /** Paths of all files, sorted whatever their case. */
  paths(): string[] {
    return Array.from({ length: this.count }, (_, n) => this.pathAt(n));
  }

  pathAt(n: number): string {
    return this.#files.pathAt(n);
  }

  /** In bytes, as the directory has it. */
  sizeAt(n: number): number {
    return this.#table.size(this.#files.entryAt(n));
  }

  /** Numbers of the files whose paths begin like this. */
  below(prefix: string): Iterable<number> {
    return this.#files.below(prefix);
  }

  /** -1 if there is no such file. */
  find(path: string): number {
    return this.#files.find(path);
  }

  has(path: string): boolean {
    return this.find(path) !== -1;
  }

  /**
   * Returns a file's bytes. Throws ZipError, also if the file is missing or larger than `limit`.
   */
  async read(path: string, limit: number): Promise<Uint8Array> {
    return this.#bytesOf(this.#entryOf(path), limit);
  }

  /** The same, some bytes at a time: they count only once all of them are there. */
  async *chunks(path: string, limit: number): AsyncGenerator<Uint8Array> {
    const entry = this.#entryOf(path);
    requireSize(entry, limit);
    const { offset, end, size, method, compressed } = entry;
    const head = await this.#source.read(offset, Math.min(end - offset, MAX_BEFORE + entry.nameLength));
    const { from, to } = dataPlace(head, entry);
    requireEnd(await this.#source.read(offset + to, end - offset - to), entry);
    const packed = new Pieces(this.#source, offset + from, compressed);
    let [length, crc] = [0, 0];
    try {
      for await (const piece of method === 0 ? packed.read() : inflateChunks(packed.read(), compressed)) {
        length += piece.length;
        if (length > size) break;
        crc = crc32(piece, crc);
        yield piece;
      }
    } catch (error) {
      if (packed.error !== null) throw packed.error.cause;
      refusePacked(entry, error);
    }
    if (length !== size || crc !== entry.crc) refuseDamaged(entry);
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  #entryOf(path: string): ZipEntry {
    const n = this.find(path);
    return n === -1 ? fail(`it does not contain ${path}`) : this.#table.entry(this.#files.entryAt(n));
  }

  async #bytesOf(entry: ZipEntry, limit: number): Promise<Uint8Array> {
    requireSize(entry, limit);
    const { offset, end, method, size } = entry;
    const whole = await this.#source.read(offset, end - offset);
    const { from, to } = dataPlace(whole, entry);
    requireEnd(whole.subarray(to), entry);
    const packed = whole.subarray(from, to);
    const bytes =
      method === 0
        ? packed
        : await inflateRaw(packed, size).catch((error: unknown) => refusePacked(entry, error));
    return bytes.length === size && crc32(bytes) === entry.crc ? bytes : refuseDamaged(entry);
  }
}

/** The packed bytes of a file, some at a time. */
class Pieces {
  readonly #source: ZipSource;
  readonly #position: number;
  readonly #length: number;
  /** Why the source could not be read, which says nothing about the ZIP. */
  error: { cause: unknown } | null = null;

  constructor(source: ZipSource, position: number, length: number) {
    this.#source = source;
    this.#position = position;
    this.#length = length;
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < this.#length; at += CHUNK)
        yield await this.#source.read(this.#position + at, Math.min(CHUNK, this.#length - at));
    } catch (error) {
      this.error = { cause: error };
      throw error;
    }
  }
}

function requireSize({ name, size, compressed, offset, end, nameLength }: ZipEntry, limit: number): void {
  if (size > limit) fail(`${name} has more than ${limit} bytes`);
  // Deflated data is hardly larger than what it unpacks to.
  if (compressed > size + 1024 + size / 1000) fail(`${name} is larger compressed than uncompressed`);
  if (end - offset > MAX_AROUND + nameLength + compressed)
    fail(`there is data after ${name} that belongs to no file`);
}

function refusePacked({ name }: ZipEntry, error: unknown): never {
  return fail(`${name} cannot be unpacked: ${error instanceof Error ? error.message : "defect"}`);
}

function refuseDamaged({ name }: ZipEntry): never {
  return fail(`${name} is damaged: its size or CRC differs from the directory's`);
}
