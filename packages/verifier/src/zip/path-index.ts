import { isOfMacos, packPath, topOf } from "./entry-name.ts";
import type { EntryTable } from "./entry-table.ts";
import { fail } from "./zip-error.ts";

const SLASH = 0x2f;

/** ASCII, as all paths of a pack are. */
const folded = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);

/** The paths of a ZIP's entries. */
export interface ZipPaths {
  files: PathIndex;
  /** Entries that are folders. */
  folders: number[];
  /** Entries that macOS added. */
  passedOver: number[];
}

/**
 * Sorts the entries by what they are. Paths must be those of a pack, below one folder at most, and
 * unique whatever the letters' case, and no file may be a folder of another path. Throws ZipError.
 */
export function indexPaths(table: EntryTable): ZipPaths {
  const top = topOf(table);
  const [listed, folders, passedOver]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < table.count; n += 1) {
    const name = table.name(n);
    if (isOfMacos(name)) {
      passedOver.push(n);
      continue;
    }
    const isFolder = name.endsWith("/");
    if (!isFolder || name !== top) packPath(isFolder ? name.slice(0, -1) : name, top);
    if (isFolder) folders.push(n);
    listed.push(n);
  }
  const all = new PathIndex(table, top.length, Uint32Array.from(listed));
  all.requireUnique();
  const isFolder = new Set(folders);
  const files = all.without(isFolder);
  files.requireNoFolder(all);
  return { files, folders, passedOver };
}

/** Entries in the order of their paths, whatever the letters' case. */
export class PathIndex {
  readonly #table: EntryTable;
  readonly #topLength: number;
  readonly #order: Uint32Array;

  constructor(table: EntryTable, topLength: number, entries: Uint32Array) {
    this.#table = table;
    this.#topLength = topLength;
    this.#order = entries.sort((a, b) => this.#compare(a, b));
  }

  get count(): number {
    return this.#order.length;
  }

  /** The entry's number in the table. */
  entryAt(rank: number): number {
    return this.#order[rank] ?? 0;
  }

  pathAt(rank: number): string {
    return this.#table.name(this.entryAt(rank)).slice(this.#topLength);
  }

  /** -1 if there is none with exactly this path. */
  find(path: string): number {
    const rank = this.#firstFrom(path);
    return rank < this.count && this.pathAt(rank) === path ? rank : -1;
  }

  /** Those whose paths begin like this. */
  *below(prefix: string): Generator<number> {
    for (let rank = this.#firstFrom(prefix); rank < this.count; rank += 1) {
      const path = this.pathAt(rank);
      if (path.startsWith(prefix)) yield rank;
      else if (!path.toLowerCase().startsWith(prefix.toLowerCase())) return;
    }
  }

  requireUnique(): void {
    for (let rank = 1; rank < this.count; rank += 1)
      if (this.#compare(this.entryAt(rank - 1), this.entryAt(rank)) === 0)
        fail(`it contains ${this.pathAt(rank)} twice`);
  }

  /** Checks that none of these files is a folder of another path. */
  requireNoFolder(all: PathIndex): void {
    let checked = "";
    for (let rank = 0; rank < all.count; rank += 1) {
      const path = all.pathAt(rank);
      const folder = path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);
      // Sorted by their paths, most have the folder of the one before.
      if (folder === checked) continue;
      checked = folder;
      for (let cut = folder.indexOf("/"); cut !== -1; cut = folder.indexOf("/", cut + 1))
        if (this.#has(folder.slice(0, cut))) fail(`${folder.slice(0, cut)} is both a file and a folder`);
    }
  }

  without(entries: ReadonlySet<number>): PathIndex {
    return new PathIndex(
      this.#table,
      this.#topLength,
      this.#order.filter((n) => !entries.has(n)),
    );
  }

  #has(path: string): boolean {
    const rank = this.#firstFrom(path);
    return rank < this.count && this.pathAt(rank).toLowerCase() === path.toLowerCase();
  }

  /** The first rank whose path is not before this one. */
  #firstFrom(path: string): number {
    const wanted = Uint8Array.from(path, (character) => folded(character.charCodeAt(0)));
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compareWith(this.entryAt(middle), wanted) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #begin(n: number): number {
    return (this.#table.nameAt[n] ?? 0) + this.#topLength;
  }

  /** Without the slash at the end of a folder. */
  #end(n: number): number {
    const end = this.#table.nameAt[n + 1] ?? 0;
    return end > this.#begin(n) && this.#table.names[end - 1] === SLASH ? end - 1 : end;
  }

  #compare(a: number, b: number): number {
    const { names } = this.#table;
    const [beginA, beginB] = [this.#begin(a), this.#begin(b)];
    const [lengthA, lengthB] = [this.#end(a) - beginA, this.#end(b) - beginB];
    const length = Math.min(lengthA, lengthB);
    for (let i = 0; i < length; i += 1) {
      const difference = folded(names[beginA + i] ?? 0) - folded(names[beginB + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }

  #compareWith(n: number, wanted: Uint8Array): number {
    const { names } = this.#table;
    const begin = this.#begin(n);
    const own = this.#end(n) - begin;
    const length = Math.min(own, wanted.length);
    for (let i = 0; i < length; i += 1) {
      const difference = folded(names[begin + i] ?? 0) - (wanted[i] ?? 0);
      if (difference !== 0) return difference;
    }
    return own - wanted.length;
  }
}
