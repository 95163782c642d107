import { number64, uint16, uint32 } from "./little-endian.ts";
import { fail } from "./zip-error.ts";

const ZIP64 = 0x0001;
/**
 * Fields that give another name, another content or another way to unpack. With them, another
 * program could see something else.
 */
const OTHER_READINGS: ReadonlySet<number> = new Set([0x0017, 0x7075, 0x9901]);

/**
 * Parses the extra fields of a header (APPNOTE section 4.5). Returns the one for ZIP64, or null. It
 * ignores times, owners and other notes of the tools.
 */
export function zip64Field(extra: Uint8Array, path: string): Uint8Array | null {
  let found: Uint8Array | null = null;
  for (let at = 0; at < extra.length;) {
    if (at + 4 > extra.length) fail(`${path} has extra fields that are cut short`);
    const id = uint16(extra, at);
    const end = at + 4 + uint16(extra, at + 2);
    if (end > extra.length) fail(`${path} has extra fields that are cut short`);
    if (OTHER_READINGS.has(id)) fail(`${path} has an extra field that gives it another name or content`);
    if (id === ZIP64 && found !== null) fail(`${path} has two sizes`);
    if (id === ZIP64) found = extra.subarray(at + 4, end);
    at = end;
  }
  return found;
}

const LARGEST = 0xffff_ffff;

/**
 * Returns the values of 32-bit fields in the order of the ZIP64 field (section 4.5.3). That field
 * contains those whose value in the header is the largest one. Some tools write others too, and
 * these must equal the header's.
 */
export function wide(values: readonly number[], field: Uint8Array | null, path: string): number[] {
  const needed = values.filter((value) => value === LARGEST).length;
  if (field === null) return needed === 0 ? [...values] : fail(`${path} has no ZIP64 field and needs one`);
  const isAll = field.length === 8 * values.length || field.length === 8 * values.length + 4;
  const isNeeded = field.length === 8 * needed || (needed > 0 && field.length === 8 * needed + 4);
  if (field.length % 8 === 4 && uint32(field, field.length - 4) !== 0) fail(`${path} is on another disk`);
  if (isNeeded) {
    let at = 0;
    return values.map((value) => (value === LARGEST ? number64(field, 8 * at++) : value));
  }
  // Tools leave out fields from the end if the header has their values.
  const count = Math.floor(field.length / 8);
  if (!(isAll || field.length % 8 === 0) || count > values.length)
    fail(`${path} has a malformed ZIP64 field`);
  return values.map((value, n) => {
    if (n >= count) return value === LARGEST ? fail(`${path} has a malformed ZIP64 field`) : value;
    const said = number64(field, 8 * n);
    return value === LARGEST || value === said ? said : fail(`${path} has two sizes`);
  });
}
