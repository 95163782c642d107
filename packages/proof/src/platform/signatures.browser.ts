const P256 = { name: "ECDSA", namedCurve: "P-256" };

/**
 * WebCrypto accepts only views of unshared memory, which TypeScript cannot tell for a plain
 * Uint8Array.
 */
const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

/** `key`: 32 bytes. `signature`: 64 bytes. */
export async function verifyEd25519(
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const imported = await crypto.subtle.importKey("raw", own(key), "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", imported, own(signature), own(message));
}

/** `spki`: 91 bytes of DER. `signature`: r || s. */
export async function verifyP256(
  spki: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const imported = await crypto.subtle.importKey("spki", own(spki), P256, false, ["verify"]);
  return crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, imported, own(signature), own(message));
}
