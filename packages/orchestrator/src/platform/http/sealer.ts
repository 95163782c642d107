import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts secrets that the service has to store but nobody may read in the database. `purpose`
 * binds a box to its place.
 */
export interface Sealer {
  seal(plaintext: Uint8Array, purpose: string): Promise<Buffer>;
  /** Rejects if key, purpose or bytes are not the ones that were sealed. */
  open(sealed: Uint8Array, purpose: string): Promise<Buffer>;
}

/** AES-256-GCM under the service's key (32 bytes): version byte, nonce, ciphertext, tag. */
export function createSealer(key: Uint8Array): Sealer {
  if (key.length !== 32) throw new RangeError("the sealing key must have 32 bytes");
  return {
    async seal(plaintext, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(purpose));
      const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, ciphertext, cipher.getAuthTag()]);
    },
    async open(sealed, purpose) {
      if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION)
        throw new Error("not a sealed box of this version");
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const end = sealed.length - TAG_BYTES;
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(sealed.subarray(end));
      return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES, end)), decipher.final()]);
    },
  };
}
