import { replaceFile } from "@attestore/host/durable-files";
import { formatPublicKeyPem } from "@attestore/proof";
import { openSigningKeys } from "./signing-keys.ts";
import type { Layout } from "../state/layout.ts";
import type { SigningKey } from "./signing-key-file.ts";

export type { SigningKey } from "./signing-key-file.ts";

/** The key in use, wherever its private half is. @throws UserError `key_file`, `signer` */
export async function readSigningKey(layout: Layout): Promise<SigningKey> {
  return (await openSigningKeys(layout)).current();
}

/** The key that is there, or a new one: a repeated `init` never replaces a key. */
export async function ensureSigningKey(layout: Layout): Promise<SigningKey> {
  const key = await (await openSigningKeys(layout)).ensure();
  // Written again each time: a crash between the two files leaves a private key without its public half.
  await replaceFile(layout.publicKey, formatPublicKeyPem(key.publicKey), { mode: 0o644 });
  return key;
}
