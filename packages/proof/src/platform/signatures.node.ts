import { createPublicKey, verify, type KeyObject, type VerifyKeyObjectInput } from "node:crypto";

const MAX_KEYS = 1024;
/**
 * Cache of imported keys: importing a key each time costs a third of the rate. The oldest entry is
 * evicted first.
 */
const keys = new Map<string, KeyObject>();

/** `key`: 32 bytes. `signature`: 64 bytes. Runs in the thread pool. */
export function verifyEd25519(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const object = keyObject(key, () =>
    createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(key).toString("base64url") },
      format: "jwk",
    }),
  );
  // Pass the key directly: inside options, Node throws and catches an exception on each call.
  return verifyAsync(null, message, object, signature);
}

/** `spki`: 91 bytes of DER. `signature`: r || s. Runs in the thread pool. */
export function verifyP256(spki: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const object = keyObject(spki, () =>
    createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" }),
  );
  return verifyAsync("sha256", message, { key: object, dsaEncoding: "ieee-p1363" }, signature);
}

function verifyAsync(
  digest: string | null,
  message: Uint8Array,
  key: KeyObject | VerifyKeyObjectInput,
  signature: Uint8Array,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(digest, message, key, signature, (error, holds) => {
      if (error) reject(error);
      else resolve(holds);
    });
  });
}

function keyObject(bytes: Uint8Array, make: () => KeyObject): KeyObject {
  const name = Buffer.from(bytes).toString("latin1");
  const cached = keys.get(name);
  if (cached) return cached;
  const made = make();
  const oldest = keys.keys().next();
  if (keys.size >= MAX_KEYS && !oldest.done) keys.delete(oldest.value);
  keys.set(name, made);
  return made;
}
