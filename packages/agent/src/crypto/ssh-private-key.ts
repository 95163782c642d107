import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { parseSshWire, type SshPublicKey } from "./ssh-public-key.ts";
import { SshReader, sshString } from "./ssh-wire.ts";

/** An SSH key pair as an age identity. */
export interface SshPrivateKey {
  readonly publicKey: SshPublicKey;
  readonly key: KeyObject;
  /** The 32-byte seed of an Ed25519 key; null for RSA. */
  readonly seed: Buffer | null;
}

/**
 * Why a file that looks like a private key can't be an identity; its message contains nothing of
 * the key.
 */
export class SshKeyError extends Error {
  readonly code = "ssh_key";
  constructor(message: string) {
    super(message);
    this.name = "SshKeyError";
  }
}

export function isPrivateKeyPem(text: string): boolean {
  return /^-----BEGIN (OPENSSH |RSA |)PRIVATE KEY-----\r?$/m.test(text);
}

/**
 * An unencrypted private key: OpenSSH's own form (PROTOCOL.key of OpenSSH), PKCS#1 or PKCS#8.
 * @throws SshKeyError, also for a key with a passphrase, because nobody is there to type it
 */
export function parseSshPrivateKey(pem: string): SshPrivateKey {
  const [, armoured] =
    /-----BEGIN OPENSSH PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/.exec(pem) ??
    [];
  if (armoured !== undefined) return parseOpenssh(Buffer.from(armoured.replaceAll(/\s/g, ""), "base64"));
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new SshKeyError("it is not a private key that can be read without a passphrase");
  }
  return withPublic(key);
}

const MAGIC = Buffer.from("openssh-key-v1\0");

function parseOpenssh(bytes: Buffer): SshPrivateKey {
  const damaged = (): SshKeyError => new SshKeyError("the OpenSSH private key is damaged");
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged();
  const reader = new SshReader(bytes.subarray(MAGIC.length));
  const [cipher, kdf] = [reader.text(), reader.text()];
  reader.string();
  const count = reader.uint32();
  const wire = reader.string();
  const secret = reader.string();
  if (cipher === null || kdf === null || count !== 1 || wire === null || secret === null) throw damaged();
  if (cipher !== "none" || kdf !== "none")
    throw new SshKeyError(
      "the OpenSSH private key has a passphrase, and nobody is there to type it: " +
        "use a separate key without one (ssh-keygen -p), or an age identity",
    );
  const publicKey = parseSshWire(wire);
  if (publicKey === null)
    throw new SshKeyError("age supports only ssh-ed25519 keys, and ssh-rsa keys of at least 2048 bits");
  const inner = new SshReader(secret);
  const [check, again] = [inner.uint32(), inner.uint32()];
  if (check === null || check !== again || inner.text() !== publicKey.type) throw damaged();
  const found = publicKey.type === "ssh-ed25519" ? readEd25519(inner) : readRsa(inner);
  if (found === null || !found.publicKey.wire.equals(wire)) throw damaged();
  return found;
}

function readEd25519(inner: SshReader): SshPrivateKey | null {
  const [publicBytes, both] = [inner.string(), inner.string()];
  if (publicBytes === null || both?.length !== 64 || !both.subarray(32).equals(publicBytes)) return null;
  const seed = both.subarray(0, 32);
  const jwk = {
    kty: "OKP",
    crv: "Ed25519",
    d: seed.toString("base64url"),
    x: publicBytes.toString("base64url"),
  };
  return withPublic(createPrivateKey({ key: jwk, format: "jwk" }));
}

function readRsa(inner: SshReader): SshPrivateKey | null {
  const fields = Array.from({ length: 6 }, () => inner.positiveInteger());
  const [n, e, d, qi, p, q] = fields;
  if (!n || !e || !d || !qi || !p || !q) return null;
  const big = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString("hex")}`);
  const [dp, dq] = [p, q].map((prime) => {
    const hex = (big(d) % (big(prime) - 1n)).toString(16);
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  });
  if (dp === undefined || dq === undefined) return null;
  const jwk = Object.fromEntries(
    Object.entries({ n, e, d, p, q, dp, dq, qi }).map(([name, bytes]) => [name, bytes.toString("base64url")]),
  );
  try {
    return withPublic(createPrivateKey({ key: { kty: "RSA", ...jwk }, format: "jwk" }));
  } catch {
    return null;
  }
}

function withPublic(key: KeyObject): SshPrivateKey {
  const publicJwk = createPublicKey(key).export({ format: "jwk" });
  const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? "", "base64url");
  if (key.asymmetricKeyType === "ed25519") {
    const publicKey = parseSshWire(Buffer.concat([sshString("ssh-ed25519"), sshString(bytes(publicJwk.x))]));
    const seed = bytes(key.export({ format: "jwk" }).d);
    if (publicKey !== null) return { publicKey, key, seed };
  }
  if (key.asymmetricKeyType === "rsa") {
    const publicKey = parseSshWire(
      Buffer.concat([sshString("ssh-rsa"), mpint(bytes(publicJwk.e)), mpint(bytes(publicJwk.n))]),
    );
    if (publicKey !== null) return { publicKey, key, seed: null };
  }
  throw new SshKeyError("age supports only ssh-ed25519 keys, and ssh-rsa keys of at least 2048 bits");
}

function mpint(bytes: Buffer): Buffer {
  const needsSign = (bytes[0] ?? 0) >= 0x80;
  return sshString(needsSign ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
}
