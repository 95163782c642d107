import { createPublicKey, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

/**
 * An Ed25519 key (RFC 8032), wherever its private half is. The same message always has the same
 * signature.
 */
export interface SigningKey {
  /** 32 bytes. */
  publicKey: Uint8Array;
  /** 64 bytes. Rejects if the key can't be used at the moment. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/**
 * A key that this process holds. Signs in the thread pool. Throws TypeError if it is not Ed25519.
 */
export function heldSigningKey(key: KeyObject): SigningKey {
  return {
    publicKey: rawPublicKey(key),
    sign: (message) =>
      new Promise((resolve, reject) => {
        sign(null, message, key, (error, signature) => {
          if (error) reject(error);
          else resolve(signature);
        });
      }),
  };
}

function rawPublicKey(key: KeyObject): Uint8Array {
  const { crv, x } = createPublicKey(key).export({ format: "jwk" });
  if (crv !== "Ed25519" || x === undefined) throw new TypeError("a log's key must be an Ed25519 key");
  return new Uint8Array(Buffer.from(x, "base64url"));
}
