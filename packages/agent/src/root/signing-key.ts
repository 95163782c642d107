import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { formatPublicKeyPem, formatPublicKeyWire, publicKeyFromSpki, sshFingerprint } from "@attestore/proof";
import type { PublicKey, Signer } from "@attestore/proof";
import { writeDurably } from "./durable-write.ts";
import type { Layout } from "./layout.ts";
import { readText } from "./read-json.ts";
import { UserError } from "./user-error.ts";

/** The agent's Ed25519 key pair; the private half stays inside `sign`. */
export interface SigningKey {
  readonly publicKey: PublicKey;
  /** Base64 of the 32 raw bytes, as an attach names it. */
  readonly wire: string;
  /** `SHA256:…`, the keyid of every envelope and what a person compares. */
  readonly fingerprint: string;
  readonly sign: Signer;
}

/** @throws UserError key_file */
export async function readSigningKey(layout: Layout): Promise<SigningKey> {
  return readSigningKeyFile(layout.signingKey);
}

/** @throws UserError key_file */
export async function readSigningKeyFile(file: string): Promise<SigningKey> {
  const pem = await readText(file);
  if (pem === null) {
    throw new UserError("key_file", `${file} does not exist. Attach this host with \`attestore init\`.`);
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new UserError("key_file", `${file} is not a private key in PEM`, { cause: error });
  }
  if (key.asymmetricKeyType !== "ed25519") {
    throw new UserError("key_file", `${file} is not an Ed25519 key but ${key.asymmetricKeyType}`);
  }
  return signingKey(key);
}

/** The key that is there, or a new one: a repeated `init` never replaces a key. */
export async function ensureSigningKey(layout: Layout): Promise<SigningKey> {
  if ((await readText(layout.signingKey)) === null) {
    const { privateKey } = generateKeyPairSync("ed25519");
    await writeDurably(layout.signingKey, privateKey.export({ type: "pkcs8", format: "pem" }));
  }
  const key = await readSigningKey(layout);
  // Written again each time: a crash between the two files leaves a private key without its public half.
  await writeDurably(layout.publicKey, formatPublicKeyPem(key.publicKey), 0o644);
  return key;
}

function signingKey(key: KeyObject): SigningKey {
  const publicKey = publicKeyFromSpki(createPublicKey(key).export({ type: "spki", format: "der" }));
  return {
    publicKey,
    wire: formatPublicKeyWire(publicKey),
    fingerprint: sshFingerprint(publicKey),
    sign: (message) => sign(null, message, key),
  };
}
