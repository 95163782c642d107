import { ProofError } from "./proof-error.ts";

/** 32 bytes: a SHA-256. */
export type Hash = Uint8Array;

export const HASH_SIZE = 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 of a string. A lone surrogate, which has no UTF-8, throws `malformed_utf8`. */
export function utf8(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new ProofError("malformed_utf8", "the text holds a lone surrogate");
  return encoder.encode(text);
}

/** The string of UTF-8 bytes; a byte order mark stays in it. Throws `malformed_utf8`. */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ProofError("malformed_utf8", "the bytes are not UTF-8");
  }
}

/** Whether a text has more than so many bytes of UTF-8, or bytes are more: a limit is one of bytes, whichever is given. */
export function isLongerThan(source: string | Uint8Array, bytes: number): boolean {
  if (source.length > bytes) return true;
  // A UTF-16 unit takes at most three bytes.
  return typeof source === "string" && source.length * 3 > bytes && encoder.encode(source).length > bytes;
}

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
