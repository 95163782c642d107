import { verifyEd25519, verifyP256 } from "#signatures";
import { p256SignatureFromDer } from "./ecdsa-der.ts";
import { isStrictEd25519Signature } from "./ed25519-point.ts";
import type { PublicKey } from "./public-key.ts";

/**
 * Whether `signature` is the key's over `message`: 64 bytes of RFC 8032 for Ed25519, by the policy of docs/formats.md, the same on
 * every platform; strict DER over SHA-256 of the message for ECDSA P-256. Never throws over a signature, however malformed.
 */
export async function verifySignature(
  key: PublicKey,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (key.algorithm === "ed25519") {
    return isStrictEd25519Signature(signature) && verifyEd25519(key.bytes, message, signature);
  }
  const raw = p256SignatureFromDer(signature);
  return raw !== undefined && verifyP256(key.bytes, message, raw);
}
