import { decodeHex, encodeHex } from "#encoding";
import { HASH_SIZE, type Hash } from "./bytes.ts";
import { ProofError } from "./proof-error.ts";

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return encodeHex(bytes);
}

/** Strict: lower case, an even number of digits, nothing else. Throws `malformed_hex`. */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text))
    throw new ProofError("malformed_hex", "not lower-case hex");
  return decodeHex(text);
}

/** A SHA-256 in hex. Throws `malformed_hex`. */
export function hashFromHex(text: string): Hash {
  const bytes = fromHex(text);
  if (bytes.length !== HASH_SIZE) throw new ProofError("malformed_hex", "not 64 hex digits");
  return bytes;
}
