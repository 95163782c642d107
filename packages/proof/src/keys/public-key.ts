import { concatBytes, equalBytes } from "../bytes.ts";
import { fromBase64, toBase64 } from "../base64.ts";
import { fromHex } from "../hex.ts";
import { ProofError } from "../proof-error.ts";
import { isEd25519Point, isWeakEd25519 } from "./ed25519-point.ts";
import { isOnP256 } from "./p256-point.ts";

/**
 * A key that signs receipts. `bytes` is its wire form: the 32 bytes of RFC 8032 for Ed25519, or a
 * 91-byte SubjectPublicKeyInfo with an uncompressed point for ECDSA P-256. Use the parsers here to
 * make one: they refuse every key that would accept signatures nobody made.
 */
export interface PublicKey {
  algorithm: "ed25519" | "ecdsa-p256";
  bytes: Uint8Array;
}

/** RFC 8410: the SubjectPublicKeyInfo of an Ed25519 key, without its last 32 bytes. */
const ED25519_SPKI = fromHex("302a300506032b6570032100");
/**
 * RFC 5480: the SubjectPublicKeyInfo of an uncompressed P-256 point, without the point's 65 bytes.
 */
const P256_SPKI = fromHex("3059301306072a8648ce3d020106082a8648ce3d030107034200");
const SPKI_P256_SIZE = P256_SPKI.length + 65;

/**
 * Parses standard base64 of 32 bytes (Ed25519) or of a 91-byte SPKI (P-256). Throws
 * `malformed_key`.
 */
export function parsePublicKeyWire(text: string): PublicKey {
  let bytes: Uint8Array;
  try {
    bytes = fromBase64(text);
  } catch {
    throw new ProofError("malformed_key", "the public key is not standard base64");
  }
  return publicKeyFromBytes(bytes);
}

/** Formats the base64 that parsePublicKeyWire accepts. */
export function formatPublicKeyWire(key: PublicKey): string {
  return toBase64(key.bytes);
}

/** Parses the bytes of the wire form. Throws `malformed_key`. */
export function publicKeyFromBytes(bytes: Uint8Array): PublicKey {
  if (bytes.length === 32) {
    if (isWeakEd25519(bytes))
      throw new ProofError("malformed_key", "this Ed25519 key is of small order: anybody can sign for it");
    if (!isEd25519Point(bytes))
      throw new ProofError("malformed_key", "the Ed25519 key is not a point of the curve");
    return { algorithm: "ed25519", bytes };
  }
  if (bytes.length === SPKI_P256_SIZE && equalBytes(bytes.subarray(0, P256_SPKI.length), P256_SPKI)) {
    if (!isOnP256(bytes.subarray(P256_SPKI.length)))
      throw new ProofError("malformed_key", "the point of the ECDSA key is not on the curve P-256");
    return { algorithm: "ecdsa-p256", bytes };
  }
  throw new ProofError("malformed_key", "neither a 32-byte Ed25519 key nor the 91-byte SPKI of a P-256 key");
}

/** Parses a DER SubjectPublicKeyInfo of either kind. Throws `malformed_key`. */
export function publicKeyFromSpki(der: Uint8Array): PublicKey {
  const isEd25519 =
    der.length === ED25519_SPKI.length + 32 && equalBytes(der.subarray(0, ED25519_SPKI.length), ED25519_SPKI);
  if (!isEd25519 && der.length !== SPKI_P256_SIZE)
    throw new ProofError(
      "malformed_key",
      "neither an Ed25519 nor an uncompressed P-256 SubjectPublicKeyInfo",
    );
  return publicKeyFromBytes(isEd25519 ? der.slice(ED25519_SPKI.length) : der);
}

/** Formats the key as a DER SubjectPublicKeyInfo. */
export function publicKeyToSpki(key: PublicKey): Uint8Array {
  return key.algorithm === "ed25519" ? concatBytes(ED25519_SPKI, key.bytes) : key.bytes;
}

/** The point as 65 bytes: 0x04 || x || y. */
export function p256Point(key: PublicKey): Uint8Array {
  return key.bytes.subarray(P256_SPKI.length);
}

/** Parses the 65 bytes 0x04 || x || y. Throws `malformed_key`. */
export function publicKeyFromP256Point(point: Uint8Array): PublicKey {
  return publicKeyFromBytes(concatBytes(P256_SPKI, point));
}
