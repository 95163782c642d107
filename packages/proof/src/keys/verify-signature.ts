import { verifyEd25519, verifyP256 } from "#signatures";
import { p256SignatureFromDer } from "./ecdsa-der.ts";
import { isStrictEd25519Signature } from "./ed25519-point.ts";
import type { PublicKey } from "./public-key.ts";

/**
 * Whether the key made `signature` over `message`. Ed25519: 64 bytes of RFC 8032, by the policy in
 * docs/formats.md, the same on every platform. ECDSA P-256: strict DER over SHA-256 of the message.
 * Never throws over a malformed signature.
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
