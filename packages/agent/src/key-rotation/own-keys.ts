import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { parsePublicKeyFile, sshFingerprint, type EnvelopeJson, type PublicKey } from "@attestore/proof";
import { readText } from "../state/read-json.ts";
import type { Layout } from "../state/layout.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";

/**
 * The public keys that this root has ever signed with, by fingerprint: the current one and those it
 * has rotated away.
 */
export async function ownPublicKeys(layout: Layout): Promise<ReadonlyMap<string, PublicKey>> {
  const { fingerprint, publicKey } = await readSigningKey(layout);
  const keys = new Map([[fingerprint, publicKey]]);
  const retired = join(layout.keys, "retired");
  const names = (await nullIfMissing(readdir(retired))) ?? [];
  for (const name of names.filter((each) => each.endsWith(".pub"))) {
    const text = await readText(join(retired, name));
    if (text === null) continue;
    const key = parsePublicKeyFile(text);
    keys.set(sshFingerprint(key), key);
  }
  return keys;
}

/**
 * The key that an envelope of this root is signed with; the current one if it names none of them.
 */
export async function ownKeyOf(layout: Layout, { signatures }: EnvelopeJson): Promise<PublicKey> {
  const { fingerprint, publicKey } = await readSigningKey(layout);
  const named = signatures[0].keyid ?? "";
  return named === fingerprint ? publicKey : ((await ownPublicKeys(layout)).get(named) ?? publicKey);
}
