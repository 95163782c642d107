import { fail } from "./zip-error.ts";

/**
 * Unsigned numbers as ZIPs have them: little-endian. Each throws ZipError where there are no bytes.
 */
export function uint8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? fail("it is cut short");
}

export function uint16(bytes: Uint8Array, at: number): number {
  return uint8(bytes, at) + uint8(bytes, at + 1) * 0x100;
}

export function uint32(bytes: Uint8Array, at: number): number {
  return uint16(bytes, at) + uint16(bytes, at + 2) * 0x1_0000;
}

/** Also throws if the number is larger than any file. */
export function number64(bytes: Uint8Array, at: number): number {
  const value = BigInt(uint32(bytes, at)) + (BigInt(uint32(bytes, at + 4)) << 32n);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : fail("a number in it is too large");
}
