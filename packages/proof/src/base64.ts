import { decodeBase64, encodeBase64 } from "#encoding";
import { ProofError } from "./proof-error.ts";

/** Standard base64 (RFC 4648 section 4), padded. */
export function toBase64(bytes: Uint8Array): string {
  return encodeBase64(bytes);
}

/**
 * Strict standard base64: padded, no white space, no other alphabet, and the unused bits of the last digit zero, so
 * that one value has one spelling. Throws `malformed_base64`.
 */
export function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw new ProofError("malformed_base64", "not padded standard base64");
  const bytes = decodeBase64(text);
  if (encodeBase64(bytes) !== text) throw new ProofError("malformed_base64", "not canonical base64");
  return bytes;
}

/**
 * Either alphabet, padded or not, as DSSE asks of those who verify; still canonical, and never both alphabets in one
 * text. Throws `malformed_base64`.
 */
export function fromEitherBase64(text: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text)) {
    return fromBase64(text.includes("=") ? text : pad(text));
  }
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return fromBase64(standard.includes("=") ? standard : pad(standard));
}

const pad = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, "=");
