import { createHash, hash } from "node:crypto";

/** SHA-256 (FIPS 180-4): 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  // On a tree's small inputs, this costs half of `createHash().update().digest()`.
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
