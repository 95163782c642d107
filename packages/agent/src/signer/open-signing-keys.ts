import { replaceFile } from "@attestore/host/durable-files";
import { formatPublicKeyPem } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readText } from "../state/read-json.ts";
import { KeyDirectory } from "./key-directory.ts";
import { RemoteKeys } from "./remote-keys.ts";
import type { SigningKey, SigningKeys } from "./signing-key.ts";

/**
 * If a signing process holds the root's keys, its file says so; otherwise they are files of the
 * root.
 */
export async function openSigningKeys(layout: Layout): Promise<SigningKeys> {
  const socket = await signerSocket(layout);
  return socket === null ? new KeyDirectory(layout.keys) : new RemoteKeys(socket);
}

/** The signing process's socket; null if this process signs itself. */
export async function signerSocket(layout: Layout): Promise<string | null> {
  const path = (await readText(layout.signer))?.trim() ?? "";
  return path === "" ? null : path;
}

/** The key in use, wherever its private half is. @throws UserError `key_file`, `signer` */
export async function readSigningKey(layout: Layout): Promise<SigningKey> {
  return (await openSigningKeys(layout)).current();
}

/** The existing key, or a new one: a repeated `init` never replaces a key. */
export async function ensureSigningKey(layout: Layout): Promise<SigningKey> {
  const key = await (await openSigningKeys(layout)).ensure();
  // Written again each time: after a crash between the two files there is a private key without its
  // public half.
  await replaceFile(layout.publicKey, formatPublicKeyPem(key.publicKey), { mode: 0o644 });
  return key;
}
