import { createHash, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** A receipt key of the test's own. */
export interface Signer {
  algorithm: "ed25519" | "ecdsa-p256";
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** base64: 32 raw bytes (Ed25519) or the SubjectPublicKeyInfo (P-256). */
  wire: string;
  /** The SSH fingerprint. */
  keyid: string;
  sign: (message: Uint8Array) => Buffer;
}

const sshString = (bytes: Uint8Array | string): Buffer => {
  const data = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, data]);
};

const fingerprint = (...fields: (Uint8Array | string)[]): string =>
  `SHA256:${createHash("sha256")
    .update(Buffer.concat(fields.map(sshString)))
    .digest("base64")
    .replace(/=+$/, "")}`;

export function ed25519(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return {
    algorithm: "ed25519",
    privateKey,
    publicKey,
    wire: raw.toString("base64"),
    keyid: fingerprint("ssh-ed25519", raw),
    sign: (message) => sign(null, message, privateKey),
  };
}

export function p256(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  return {
    algorithm: "ecdsa-p256",
    privateKey,
    publicKey,
    wire: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    keyid: fingerprint("ecdsa-sha2-nistp256", "nistp256", point),
    sign: (message) => sign("sha256", message, privateKey),
  };
}

/** An Ed25519 public key from its 32 bytes. */
export function ed25519PublicKey(raw: Uint8Array): KeyObject {
  return createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(raw).toString("base64url") },
    format: "jwk",
  });
}
