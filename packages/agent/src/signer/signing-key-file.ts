import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { replaceFile } from "@attestore/host/durable-files";
import { publicKeyFromSpki } from "@attestore/proof";
import { readText } from "../state/read-json.ts";
import { UserError } from "../errors/user-error.ts";
import { signingKey, type SigningKey } from "./signing-key.ts";

/** @throws UserError key_file */
export async function readSigningKeyFile(file: string): Promise<SigningKey> {
  const pem = await readText(file);
  if (pem === null) {
    throw new UserError(
      "key_file",
      `${file} does not exist. Put a copy of it back. If there is none, put the root aside and attach anew: docs/keys.md, "A stolen key or token".`,
    );
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

/** The existing key, or a new one: an existing key is never replaced. @throws UserError key_file */
export async function ensureSigningKeyFile(file: string): Promise<SigningKey> {
  if ((await readText(file)) === null) {
    const { privateKey } = generateKeyPairSync("ed25519");
    await replaceFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  }
  return readSigningKeyFile(file);
}
