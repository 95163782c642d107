import { createHash, hash } from "node:crypto";

/** On a tree's small inputs, `crypto.hash` costs half of `createHash().update().digest()`. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const digest = hash("sha256", bytes, "buffer");
  return new Uint8Array(digest.buffer, digest.byteOffset, digest.byteLength);
}

/** The digest of bytes that come some at a time. */
export class Sha256 {
  readonly #hash = createHash("sha256");

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  /** Ends it. */
  digest(): Uint8Array {
    return new Uint8Array(this.#hash.digest());
  }
}
