import { Buffer } from "node:buffer";

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const encodeHex = (bytes: Uint8Array): string => view(bytes).toString("hex");
export const encodeBase64 = (bytes: Uint8Array): string => view(bytes).toString("base64");

/** The text must already be known to be of the alphabet. */
export const decodeHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

/** Null if the text is not base64. Otherwise lax. */
export function decodeBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, "base64");
  // Not a Buffer: its `slice` and JSON differ from a browser's Uint8Array.
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
