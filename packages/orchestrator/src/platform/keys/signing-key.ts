import { createPublicKey, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** A key that signs; the private half stays in here. */
export interface SigningKey {
  /** The 32 raw bytes of an Ed25519 public key (RFC 8032). */
  publicKey: Uint8Array;
  /** 64 bytes. Runs in the thread pool: one signature costs about as much as a small request. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

export function createSigningKey(privateKey: KeyObject): SigningKey {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (x === undefined) throw new TypeError("not an Ed25519 key");
  return {
    publicKey: new Uint8Array(Buffer.from(x, "base64url")),
    sign: (message) =>
      new Promise((resolve, reject) => {
        sign(null, message, privateKey, (error, signature) => {
          if (error === null) resolve(new Uint8Array(signature));
          else reject(error);
        });
      }),
  };
}
