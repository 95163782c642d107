import { LOCAL, type ZipEntry } from "./directory.ts";
import { nameOf } from "./entry-name.ts";
import { wide, zip64Field } from "./extra-fields.ts";
import { number64, uint16, uint32 } from "./little-endian.ts";
import { fail } from "./zip-error.ts";

/** If the CRC and the sizes come after the data, the header has zeros, or the same values. */
const SIZES_BEHIND = 0x0008;
const MARK = 0x08074b50;

/**
 * Everything that a local header may have besides its name: extra fields, and the sizes after the
 * data.
 */
export const MAX_AROUND = LOCAL + 0xffff + 24;

/**
 * Returns the packed bytes of an entry from everything that belongs to it: the local header
 * (section 4.3.7), which must agree with the directory except for times and owners, the data, and
 * the sizes after them if there are any (section 4.3.9). Throws ZipError.
 */
export function packedBytes(whole: Uint8Array, entry: ZipEntry): Uint8Array {
  const { name, nameLength, compressed, size } = entry;
  const differs = (): never => fail(`${name} has a header that contradicts the directory`);
  if (whole.length < LOCAL + nameLength || uint32(whole, 0) !== 0x04034b50) return differs();
  const extraAt = LOCAL + nameLength;
  const from = extraAt + uint16(whole, 28);
  const to = from + compressed;
  const isSame =
    to <= whole.length &&
    uint16(whole, 26) === nameLength &&
    nameOf(whole.subarray(LOCAL, extraAt), entry.madeOnWindows) === name &&
    uint16(whole, 6) === entry.flags &&
    uint16(whole, 8) === entry.method;
  if (!isSame) return differs();
  const behind = (entry.flags & SIZES_BEHIND) !== 0;
  const sizes = wide(
    [22, 18].map((at) => uint32(whole, at)),
    zip64Field(whole.subarray(extraAt, from), name),
    name,
  );
  const said = [uint32(whole, 14), ...sizes];
  const isTold = [entry.crc, size, compressed].every(
    (value, n) => said[n] === value || (behind && said[n] === 0),
  );
  if (!isTold) return differs();
  if (behind ? !isDescriptor(whole.subarray(to), entry) : to !== whole.length) return differs();
  return whole.subarray(from, to);
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
