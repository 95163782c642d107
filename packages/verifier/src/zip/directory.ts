import type { DirectoryPlace } from "./end-record.ts";
import { isOfMacos, nameOf, packPath, topOf } from "./entry-name.ts";
import { wide, zip64Field } from "./extra-fields.ts";
import { uint16, uint32, uint8 } from "./little-endian.ts";
import { fail } from "./zip-error.ts";

/** A file or folder in a ZIP, as the directory describes it. */
export interface ZipEntry {
  /** As written there. A folder's path ends with a slash. */
  name: string;
  /** Length of the name in the headers, in bytes. */
  nameLength: number;
  madeOnWindows: boolean;
  flags: number;
  method: 0 | 8;
  crc: number;
  compressed: number;
  size: number;
  /**
   * Where its local header begins, and where the next one or the directory begins. Everything
   * between belongs to this entry.
   */
  offset: number;
  end: number;
}

export interface ZipTree {
  /** By their paths in the pack, in this order. */
  files: Map<string, ZipEntry>;
  folders: ZipEntry[];
  /** Files that macOS added. */
  passedOver: ZipEntry[];
}

/**
 * Parses the entries of a directory (section 4.3.12), which may be in any order. It is strict. It
 * accepts only plain files, stored or deflated, and folders: not encrypted and without comments.
 * Paths must be those of a pack, below one folder at most, and unique whatever the letters' case,
 * and no file may be a folder of another path. The first entry begins where the ZIP does, and no
 * two begin at the same place, so none overlaps another.
 */
export function parseDirectory(bytes: Uint8Array, { start, count }: DirectoryPlace): ZipTree {
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let n = 0; n < count; n += 1) {
    const { entry, next } = parseEntry(bytes, at);
    at = next;
    entries.push(entry);
  }
  if (at !== bytes.length) fail("its directory lists more than its files");
  setEnds(entries, start);
  return treeOf(entries);
}

function setEnds(entries: readonly ZipEntry[], start: number): void {
  const ordered = entries.toSorted((a, b) => a.offset - b.offset);
  if ((ordered[0]?.offset ?? start) !== 0) fail("there is data before its first file");
  for (const [n, entry] of ordered.entries()) {
    entry.end = ordered[n + 1]?.offset ?? start;
    if (entry.offset + LOCAL + entry.nameLength + entry.compressed > entry.end)
      fail(`${entry.name} overlaps what follows it`);
  }
}

function treeOf(entries: readonly ZipEntry[]): ZipTree {
  const tree: ZipTree = { files: new Map(), folders: [], passedOver: [] };
  const top = topOf(entries.map(({ name }) => name));
  const [files, folders, named] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const found: [string, ZipEntry][] = [];
  for (const entry of entries) {
    const { name } = entry;
    if (isOfMacos(name)) {
      tree.passedOver.push(entry);
      continue;
    }
    const isFolder = name.endsWith("/");
    const path = isFolder && name === top ? "" : packPath(isFolder ? name.slice(0, -1) : name, top);
    const folded = path.toLowerCase();
    if (files.has(folded) || named.has(folded)) fail(`it contains ${path} twice`);
    if (isFolder) {
      named.add(folded);
      folders.add(folded);
      tree.folders.push(entry);
    } else {
      files.add(folded);
      found.push([path, entry]);
    }
    for (let cut = folded.indexOf("/"); cut !== -1; cut = folded.indexOf("/", cut + 1))
      folders.add(folded.slice(0, cut));
  }
  for (const folder of folders) if (files.has(folder)) fail(`${folder} is both a file and a folder`);
  found.sort(([a], [b]) => (a < b ? -1 : 1));
  tree.files = new Map(found);
  return tree;
}

export const LOCAL = 30;
const CENTRAL = 46;

/**
 * These flags say how hard the compressor tried, that the sizes come after the data, and that a
 * name is in UTF-8. Any other flag changes what the bytes mean.
 */
const FLAGS = 0x0002 | 0x0004 | 0x0008 | 0x0800;
const [NO_TYPE, FOLDER, REGULAR] = [0, 4, 8];
const [DOS, NTFS, VFAT] = [0, 10, 14];

function parseEntry(bytes: Uint8Array, at: number): { entry: ZipEntry; next: number } {
  if (at + CENTRAL > bytes.length || uint32(bytes, at) !== 0x02014b50) fail("its directory is cut short");
  const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((offset) =>
    uint16(bytes, at + offset),
  );
  const extraAt = at + CENTRAL + nameLength;
  const next = extraAt + extraLength;
  if (next > bytes.length) fail("its directory is cut short");
  const madeOnWindows = [DOS, NTFS, VFAT].includes(uint8(bytes, at + 5));
  const name = nameOf(bytes.subarray(at + CENTRAL, extraAt), madeOnWindows);
  const field = zip64Field(bytes.subarray(extraAt, next), name);
  const [size = 0, compressed = 0, offset = 0] = wide(
    [24, 20, 42].map((place) => uint32(bytes, at + place)),
    field,
    name,
  );
  const method = uint16(bytes, at + 10);
  const flags = uint16(bytes, at + 8);
  const attributes = uint32(bytes, at + 38);
  const type = attributes >>> 28;
  const isFolder = name.endsWith("/");
  const isPlain =
    (flags & ~FLAGS) === 0 &&
    (method === 0 || method === 8) &&
    commentLength === 0 &&
    uint16(bytes, at + 34) === 0 &&
    (type === NO_TYPE || type === (isFolder ? FOLDER : REGULAR)) &&
    ((attributes & 0x10) === 0 || isFolder) &&
    (!isFolder || size === 0) &&
    (method === 8 || compressed === size);
  if (!isPlain) fail(`${JSON.stringify(name.slice(0, 100))} is not a plain file or folder`);
  const entry: ZipEntry = {
    name,
    nameLength,
    madeOnWindows,
    flags,
    method: method === 0 ? 0 : 8,
    crc: uint32(bytes, at + 16),
    compressed,
    size,
    offset,
    end: 0,
  };
  return { entry, next };
}
