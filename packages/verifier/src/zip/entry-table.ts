import type { DirectoryPlace } from "./end-record.ts";
import { latin1 } from "./entry-name.ts";
import { LOCAL, readDirectory, type ZipEntry } from "./read-directory.ts";
import { fail } from "./zip-error.ts";
import type { ZipSource } from "./zip-source.ts";

const [WINDOWS, DEFLATED] = [1, 2];
/** What an entry takes in the directory at least. */
const CENTRAL = 46;

/**
 * The entries of a ZIP's directory in columns: a million objects with their names would take some
 * hundred megabytes. An entry is known by its number in the directory's order.
 */
export class EntryTable {
  readonly count: number;
  /** The names one after the other, a byte for each character. */
  readonly names: Uint8Array;
  readonly nameAt: Uint32Array;
  readonly #offset: Float64Array;
  readonly #end: Float64Array;
  readonly #compressed: Float64Array;
  readonly #size: Float64Array;
  readonly #crc: Uint32Array;
  readonly #flags: Uint16Array;
  readonly #kind: Uint8Array;

  private constructor({ count, size }: DirectoryPlace) {
    if (count * CENTRAL > size) fail("its directory is cut short");
    this.count = count;
    this.names = new Uint8Array(size - count * CENTRAL);
    this.nameAt = new Uint32Array(count + 1);
    this.#offset = new Float64Array(count);
    this.#end = new Float64Array(count);
    this.#compressed = new Float64Array(count);
    this.#size = new Float64Array(count);
    this.#crc = new Uint32Array(count);
    this.#flags = new Uint16Array(count);
    this.#kind = new Uint8Array(count);
  }

  /**
   * Reads the directory. The first entry begins where the ZIP does, and no two begin at the same
   * place, so none overlaps another. Throws ZipError.
   */
  static async read(source: ZipSource, place: DirectoryPlace): Promise<EntryTable> {
    const table = new EntryTable(place);
    let n = 0;
    for await (const entries of readDirectory(source, place))
      for (const entry of entries) table.#set(n++, entry);
    table.#setEnds(place.start);
    return table;
  }

  entry(n: number): ZipEntry {
    const kind = this.#kind[n] ?? 0;
    const name = this.name(n);
    return {
      name,
      nameLength: name.length,
      madeOnWindows: (kind & WINDOWS) !== 0,
      flags: this.#flags[n] ?? 0,
      method: (kind & DEFLATED) === 0 ? 0 : 8,
      crc: this.#crc[n] ?? 0,
      compressed: this.#compressed[n] ?? 0,
      size: this.size(n),
      offset: this.#offset[n] ?? 0,
      end: this.#end[n] ?? 0,
    };
  }

  name(n: number): string {
    return latin1(this.names.subarray(this.nameAt[n] ?? 0, this.nameAt[n + 1] ?? 0));
  }

  /** In bytes, unpacked. */
  size(n: number): number {
    return this.#size[n] ?? 0;
  }

  #set(n: number, entry: ZipEntry): void {
    const { name, madeOnWindows, flags, method, crc, compressed, size, offset } = entry;
    let at = this.nameAt[n] ?? 0;
    for (let i = 0; i < name.length; i += 1) this.names[at++] = name.charCodeAt(i);
    this.nameAt[n + 1] = at;
    this.#offset[n] = offset;
    this.#compressed[n] = compressed;
    this.#size[n] = size;
    this.#crc[n] = crc;
    this.#flags[n] = flags;
    this.#kind[n] = (madeOnWindows ? WINDOWS : 0) | (method === 8 ? DEFLATED : 0);
  }

  #setEnds(start: number): void {
    const begin = (n: number): number => this.#offset[n] ?? 0;
    const ordered = Uint32Array.from({ length: this.count }, (_, n) => n).sort((a, b) => begin(a) - begin(b));
    if (ordered.length > 0 ? begin(ordered[0] ?? 0) !== 0 : start !== 0)
      fail("there is data before its first file");
    for (const [at, n] of ordered.entries()) {
      const next = ordered[at + 1];
      const end = next === undefined ? start : begin(next);
      this.#end[n] = end;
      const nameLength = (this.nameAt[n + 1] ?? 0) - (this.nameAt[n] ?? 0);
      if (begin(n) + LOCAL + nameLength + (this.#compressed[n] ?? 0) > end)
        fail(`${this.name(n)} overlaps what follows it`);
    }
  }
}
