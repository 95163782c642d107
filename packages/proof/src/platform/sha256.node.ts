import { hash } from "node:crypto";

/** One call of `crypto.hash` costs half of `createHash().update().digest()` on the small inputs of a tree. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const digest = hash("sha256", bytes, "buffer");
  return new Uint8Array(digest.buffer, digest.byteOffset, digest.byteLength);
}
