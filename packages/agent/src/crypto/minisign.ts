import { createHash, createPublicKey, verify } from "node:crypto";

/**
 * For the public keys that node:crypto accepts: SubjectPublicKeyInfo of Ed25519 without the key
 * (RFC 8410).
 */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/**
 * `untrusted comment`, the signature, `trusted comment`, the signature over both. Nothing after it.
 */
const SIGNATURE =
  /^untrusted comment: [^\n]{0,1024}\n([A-Za-z0-9+/]{99}=)\ntrusted comment: ([^\n]{0,8192})\n([A-Za-z0-9+/]{86}==)\n?$/;

/**
 * Verifies a detached minisign signature (https://jedisct1.github.io/minisign/) of the prehashed
 * kind (`ED`, BLAKE2b-512), which minisign 0.10 and later make.
 * @param publicKey `RW` and 54 characters of base64
 * @param signature the text of the `.minisig` file
 * @returns the trusted comment, which is signed too; null if the signature is not one of this key
 * over these bytes
 */
export function verifyMinisign(publicKey: string, signed: Buffer, signature: string): string | null {
  const key = Buffer.from(publicKey, "base64");
  const [, first = "", comment = "", second = ""] = SIGNATURE.exec(signature) ?? [];
  const bytes = Buffer.from(first, "base64");
  if (key.length !== 42 || key.toString("latin1", 0, 2) !== "Ed") return null;
  if (bytes.length !== 74 || bytes.toString("latin1", 0, 2) !== "ED") return null;
  if (!bytes.subarray(2, 10).equals(key.subarray(2, 10))) return null;
  const ed25519 = createPublicKey({
    key: Buffer.concat([SPKI, key.subarray(10)]),
    format: "der",
    type: "spki",
  });
  const digest = createHash("blake2b512").update(signed).digest();
  const signatureBytes = bytes.subarray(10);
  const commented = Buffer.concat([signatureBytes, Buffer.from(comment)]);
  return verify(null, digest, ed25519, signatureBytes) &&
    verify(null, commented, ed25519, Buffer.from(second, "base64"))
    ? comment
    : null;
}
