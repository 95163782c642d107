import { decodeBase64, encodeBase64 } from "#encoding";
import { ProofError } from "./proof-error.ts";

/** Standard base64 (RFC 4648 section 4), padded. */
export function toBase64(bytes: Uint8Array): string {
  return encodeBase64(bytes);
}

/**
 * Decodes standard base64 strictly: padding is required, white space and other alphabets are
 * refused, and the unused bits of the last digit must be zero, so each value has exactly one
 * spelling. Throws `malformed_base64`.
 */
export function fromBase64(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  // Platform decoders may be lax, but every encoder writes exactly one spelling.
  if (bytes === null || encodeBase64(bytes) !== text)
    throw new ProofError("malformed_base64", "not canonical standard base64 with padding");
  return bytes;
}

/**
 * Decodes either alphabet (RFC 4648 sections 4 and 5), as DSSE requires of verifiers, but not both
 * in one text. Otherwise as strict as standard base64: padded and canonical. Throws
 * `malformed_base64`.
 */
export function fromEitherBase64(text: string): Uint8Array {
  const urlSafe = text.includes("-") || text.includes("_");
  if (!urlSafe || text.includes("+") || text.includes("/")) return fromBase64(text);
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}
