import { HASH_SIZE, type Hash } from "@attestore/proof";

/**
 * Many byte strings as one parameter, which SQL cuts up again with `substring`: half the cost of a
 * bytea[], and one prepared statement for any number of them.
 */
export interface Packed {
  bytes: Buffer;
  /** Array literals (int[]): where each begins, counted from 1 as in SQL, and how long it is. */
  starts: string;
  lengths: string;
}

export function pack(parts: readonly Uint8Array[]): Packed {
  const starts: number[] = [];
  let start = 1;
  for (const part of parts) {
    starts.push(start);
    start += part.length;
  }
  return {
    bytes: Buffer.concat(parts),
    starts: plainArray(starts),
    lengths: plainArray(parts.map((part) => part.length)),
  };
}

/** Hashes only: SQL finds number n (from 1) at n * 32 - 31. */
export function packHashes(hashes: readonly Hash[]): Buffer {
  return Buffer.concat(hashes, hashes.length * HASH_SIZE);
}

export function unpackHashes(packed: Uint8Array): Hash[] {
  const hashes: Hash[] = [];
  for (let at = 0; at < packed.length; at += HASH_SIZE) hashes.push(packed.subarray(at, at + HASH_SIZE));
  return hashes;
}

/**
 * An array literal of values that need no quoting: numbers, ids, kinds, ISO times; null for NULL.
 * Throws on any other text, so nothing foreign becomes syntax.
 */
export function plainArray(values: readonly (string | number | null)[]): string {
  for (const value of values)
    if (typeof value === "string" && !PLAIN.test(value)) throw new TypeError("not plain text");
  return `{${values.map((value) => value ?? "NULL").join(",")}}`;
}

/**
 * An array literal of byte strings (bytea[]) for a search; the driver's own takes several times as
 * long.
 */
export function byteaArray(values: readonly Buffer[]): string {
  return `{${values.map((value) => `"\\\\x${value.toString("hex")}"`).join(",")}}`;
}

const PLAIN = /^(?!null$)[A-Za-z0-9_.:+-]+$/i;
