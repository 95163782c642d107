import { nameOf } from "./entry-name.ts";
import { wide, zip64Field } from "./extra-fields.ts";
import { number64, uint16, uint32 } from "./little-endian.ts";
import { LOCAL, type ZipEntry } from "./read-directory.ts";
import { fail } from "./zip-error.ts";

/** If the CRC and the sizes come after the data, the header has zeros, or the same values. */
const SIZES_BEHIND = 0x0008;
const MARK = 0x08074b50;

/**
 * Everything that a local header may have besides its name: extra fields, and the sizes after the
 * data.
 */
export const MAX_AROUND = LOCAL + 0xffff + 24;

/** The most that a local header may have before the data. */
export const MAX_BEFORE = LOCAL + 0xffff;

/** Where the data is, in bytes from the local header's beginning. */
export interface DataPlace {
  from: number;
  to: number;
}

/**
 * Finds the packed bytes of an entry. `head` has its local header (section 4.3.7), which must agree
 * with the directory except for times and owners. Throws ZipError.
 */
export function dataPlace(head: Uint8Array, entry: ZipEntry): DataPlace {
  const { name, nameLength, compressed, size } = entry;
  const differs = (): never => fail(`${name} has a header that contradicts the directory`);
  if (head.length < LOCAL + nameLength || uint32(head, 0) !== 0x04034b50) return differs();
  const extraAt = LOCAL + nameLength;
  const from = extraAt + uint16(head, 28);
  const to = from + compressed;
  const isSame =
    from <= head.length &&
    to <= entry.end - entry.offset &&
    uint16(head, 26) === nameLength &&
    nameOf(head.subarray(LOCAL, extraAt), entry.madeOnWindows) === name &&
    uint16(head, 6) === entry.flags &&
    uint16(head, 8) === entry.method;
  if (!isSame) return differs();
  const sizes = wide(
    [22, 18].map((at) => uint32(head, at)),
    zip64Field(head.subarray(extraAt, from), name),
    name,
  );
  const said = [uint32(head, 14), ...sizes];
  const isTold = [entry.crc, size, compressed].every(
    (value, n) => said[n] === value || (isBehind(entry) && said[n] === 0),
  );
  return isTold ? { from, to } : differs();
}

/**
 * Checks what follows an entry's data: nothing, or CRC and sizes if the header says so (section
 * 4.3.9). Throws ZipError.
 */
export function requireEnd(rest: Uint8Array, entry: ZipEntry): void {
  if (isBehind(entry) ? !isDescriptor(rest, entry) : rest.length > 0)
    fail(`${entry.name} has a header that contradicts the directory`);
}

function isBehind({ flags }: ZipEntry): boolean {
  return (flags & SIZES_BEHIND) !== 0;
}

/** With or without its signature, and with sizes of 4 or 8 bytes. */
function isDescriptor(bytes: Uint8Array, { crc, compressed, size }: ZipEntry): boolean {
  const isMarked = bytes.length === 16 || bytes.length === 24;
  if (!isMarked && bytes.length !== 12 && bytes.length !== 20) return false;
  if (isMarked && uint32(bytes, 0) !== MARK) return false;
  const rest = isMarked ? bytes.subarray(4) : bytes;
  const sizes =
    rest.length === 20 ? [number64(rest, 4), number64(rest, 12)] : [uint32(rest, 4), uint32(rest, 8)];
  return uint32(rest, 0) === crc && sizes[0] === compressed && sizes[1] === size;
}
