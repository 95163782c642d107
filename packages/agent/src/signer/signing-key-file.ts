import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { replaceFile } from "@attestore/host/durable-files";
import { formatPublicKeyWire, publicKeyFromSpki, sshFingerprint } from "@attestore/proof";
import type { PublicKey, Signer } from "@attestore/proof";
import { readText } from "../state/read-json.ts";
import { UserError } from "../errors/user-error.ts";

/** The agent's Ed25519 key pair; the private half stays inside `sign`. */
export interface SigningKey {
  readonly publicKey: PublicKey;
  /** Base64 of the 32 raw bytes, as an attach names it. */
  readonly wire: string;
  /** `SHA256:…`, the keyid of every envelope and what a person compares. */
  readonly fingerprint: string;
  readonly sign: Signer;
}

export function signingKey(publicKey: PublicKey, signer: Signer): SigningKey {
  return {
    publicKey,
    wire: formatPublicKeyWire(publicKey),
    fingerprint: sshFingerprint(publicKey),
    sign: signer,
  };
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
  const publicKey = publicKeyFromSpki(createPublicKey(key).export({ type: "spki", format: "der" }));
  return signingKey(publicKey, (message) => sign(null, message, key));
}

/** The key that is there, or a new one: one that is there is never replaced. @throws UserError key_file */
export async function ensureSigningKeyFile(file: string): Promise<SigningKey> {
  if ((await readText(file)) === null) {
    const { privateKey } = generateKeyPairSync("ed25519");
    await replaceFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  }
  return readSigningKeyFile(file);
}
