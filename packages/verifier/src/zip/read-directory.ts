import type { DirectoryPlace } from "./end-record.ts";
import { nameOf } from "./entry-name.ts";
import { wide, zip64Field } from "./extra-fields.ts";
import { uint16, uint32, uint8 } from "./little-endian.ts";
import { fail } from "./zip-error.ts";
import type { ZipSource } from "./zip-source.ts";

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

export const LOCAL = 30;
const CENTRAL = 46;
/** Name, extra fields and comment have 16 bits each for their length. */
const MAX_ENTRY = CENTRAL + 3 * 0xffff;
/** How much of the directory is read at once. */
const WINDOW = 1024 * 1024;

/**
 * Parses the entries of a directory (section 4.3.12) in its order, some at a time. It is strict. It
 * accepts only plain files, stored or deflated, and folders: not encrypted and without comments.
 * The entries' ends are not known yet.
 */
export async function* readDirectory(
  source: ZipSource,
  { start, size, count }: DirectoryPlace,
): AsyncGenerator<ZipEntry[]> {
  let window = new Uint8Array();
  let [done, read] = [0, 0];
  while (done < count) {
    const more = Math.min(WINDOW, size - read);
    const next = await source.read(start + read, more);
    read += more;
    const bytes = new Uint8Array(window.length + next.length);
    bytes.set(window);
    bytes.set(next, window.length);
    const entries: ZipEntry[] = [];
    let at = 0;
    while (done < count && (bytes.length - at >= MAX_ENTRY || read === size)) {
      const parsed = parseEntry(bytes, at);
      at = parsed.next;
      done += 1;
      entries.push(parsed.entry);
    }
    window = bytes.slice(at);
    yield entries;
  }
  if (window.length > 0 || read !== size) fail("its directory lists more than its files");
}

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
