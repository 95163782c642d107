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
  const bytes = decodeBase64(text);
  // However lax the platform's decoder, its encoder has one spelling only.
  if (bytes === null || encodeBase64(bytes) !== text)
    throw new ProofError("malformed_base64", "not padded standard base64 in its one spelling");
  return bytes;
}

/**
 * Either alphabet (RFC 4648 sections 4 and 5), as DSSE asks of those who verify; never both in one text, and just as
 * strict in all else: padded, canonical. Throws `malformed_base64`.
 */
export function fromEitherBase64(text: string): Uint8Array {
  const urlSafe = text.includes("-") || text.includes("_");
  if (!urlSafe || text.includes("+") || text.includes("/")) return fromBase64(text);
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}
