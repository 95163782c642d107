import { ProofError } from "./proof-error.ts";

/** Length of a SHA-256, in bytes. */
export type Hash = Uint8Array;

export const HASH_SIZE = 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Encodes a string as UTF-8. Throws `malformed_utf8` for a lone surrogate, which has no UTF-8 form.
 */
export function utf8(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new ProofError("malformed_utf8", "the text contains a lone surrogate");
  return encoder.encode(text);
}

/** Decodes UTF-8 and keeps a byte order mark. Throws `malformed_utf8`. */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ProofError("malformed_utf8", "the bytes are not UTF-8");
  }
}

/**
 * Whether the value is longer than so many bytes. Text is measured in UTF-8, so the same limit
 * holds for text and for bytes.
 */
export function isLongerThan(source: string | Uint8Array, bytes: number): boolean {
  if (source.length > bytes) return true;
  // Each UTF-16 unit takes at most three bytes of UTF-8.
  return typeof source === "string" && source.length * 3 > bytes && encoder.encode(source).length > bytes;
}

/** The parts one after another, in a new array. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Not constant-time: for public values only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
