import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { SshReader, strictBase64 } from "./ssh-wire.ts";

export type SshKeyType = "ssh-ed25519" | "ssh-rsa";

/** An SSH public key that age can encrypt to. */
export interface SshPublicKey {
  readonly type: SshKeyType;
  /** SSH's wire form, the base64 in an authorized_keys line. */
  readonly wire: Buffer;
  readonly key: KeyObject;
  /** The 32 raw bytes of an ssh-ed25519 key; null for ssh-rsa. */
  readonly ed25519: Buffer | null;
}

/** age refuses weaker ones too (filippo.io/age/agessh). */
const LEAST_RSA_BITS = 2048;
const MOST_RSA_BITS = 16_384;

/**
 * The key of `ssh-ed25519 AAAA… comment` or `ssh-rsa AAAA…`; null for anything else. Options before
 * the type are not accepted.
 */
export function parseSshPublicKey(line: string): SshPublicKey | null {
  const [type, encoded = ""] = line.trim().split(/[ \t]+/);
  const wire = strictBase64(encoded);
  if (wire === null || (type !== "ssh-ed25519" && type !== "ssh-rsa")) return null;
  const parsed = parseSshWire(wire);
  return parsed?.type === type ? parsed : null;
}

export function parseSshWire(wire: Buffer): SshPublicKey | null {
  const reader = new SshReader(wire);
  const type = reader.text();
  if (type === "ssh-ed25519") {
    const bytes = reader.string();
    if (bytes === null || bytes.length !== 32 || !reader.isAtEnd) return null;
    const key = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
      format: "jwk",
    });
    return { type, wire, key, ed25519: bytes };
  }
  if (type !== "ssh-rsa") return null;
  const [e, n] = [reader.positiveInteger(), reader.positiveInteger()];
  if (e === null || n === null || !reader.isAtEnd || e.length > 4) return null;
  if (n.length * 8 < LEAST_RSA_BITS || n.length * 8 > MOST_RSA_BITS) return null;
  const key = createPublicKey({
    key: { kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") },
    format: "jwk",
  });
  return { type, wire, key, ed25519: null };
}

/**
 * How age's stanzas name an SSH key: the first 4 bytes of the wire form's SHA-256, in unpadded
 * base64.
 */
export function sshKeyTag(wire: Buffer): string {
  return createHash("sha256").update(wire).digest().subarray(0, 4).toString("base64").replaceAll("=", "");
}
