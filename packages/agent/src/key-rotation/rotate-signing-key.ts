import { join } from "node:path";
import { makeDirectory, removeFile, replaceFile } from "@attestore/host/durable-files";
import { formatPublicKeyPem } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readText } from "../state/read-json.ts";
import { type SigningKey } from "../signer/signing-key.ts";
import { readSigningKey, openSigningKeys } from "../signer/open-signing-keys.ts";
import { retiredName } from "../signer/key-directory.ts";
import { newestSigningRotation } from "./pending-rotation.ts";
import { keepRotation, signRotation } from "./rotation.ts";

export interface PreparedKey {
  readonly old: SigningKey;
  readonly next: SigningKey;
}

/**
 * Makes a new signing key beside the current one; uses one that an earlier call left there. The
 * caller holds the `work` lock.
 */
export async function prepareSigningKey(layout: Layout): Promise<PreparedKey> {
  const keys = await openSigningKeys(layout);
  return { old: await keys.current(), next: await keys.next() };
}

export interface SwitchedKey {
  /** The rotation's file, signed by both. */
  readonly statement: string;
  /** The old key's public half. */
  readonly retired: string;
}

/**
 * Replaces the old key by the new one. The caller holds the `work` lock, so nothing is signed
 * meanwhile: everything signed before the moment in the statement was signed with the old key, and
 * everything later with the new one. The old public key is kept first, because it verifies past
 * receipts. Then come the statement and the old private key, with which a rotation is undone if the
 * service refuses it. The rename is the one moment at which the key changes. After a crash before
 * it there is a statement about a key that is not in use: nobody is told about it, and the next
 * call replaces it. After a crash behind it there is a rotation that the service must still be told
 * about.
 */
export async function takeIntoUse(
  layout: Layout,
  { old, next }: PreparedKey,
  { agentId, orgId }: { readonly agentId: string; readonly orgId: string },
): Promise<SwitchedKey> {
  const stale = await newestSigningRotation(layout);
  if (stale?.by_new === next.fingerprint) await removeFile(stale.file);
  await makeDirectory(join(layout.keys, "retired"));
  const retired = join(layout.keys, "retired", `${retiredName(old.fingerprint)}.pub`);
  await replaceFile(retired, formatPublicKeyPem(old.publicKey), { mode: 0o644 });
  const change = { key: "signing", before: old.publicKey, after: next.publicKey } as const;
  const rotation = await signRotation({ agentId, orgId, at: new Date().toISOString(), change }, old, next);
  const statement = await keepRotation(layout, rotation, "signing");
  await (await openSigningKeys(layout)).takeNext(old, next);
  await repairPublicKey(layout);
  return { statement, retired };
}

/**
 * Undoes a rotation that nobody accepted, before anything was signed with the new key. Again the
 * rename is the one moment; whatever is left of the rotation afterwards is about a key that is not
 * in use.
 */
export async function undoRotation(
  layout: Layout,
  { old }: PreparedKey,
  { statement, retired }: SwitchedKey,
): Promise<void> {
  await (await openSigningKeys(layout)).takeBack(old.fingerprint);
  await repairPublicKey(layout);
  await removeFile(statement);
  await removeFile(retired);
}

/** The old private key is no longer needed. */
export async function forgetOldKey(layout: Layout, fingerprint: string): Promise<void> {
  await (await openSigningKeys(layout)).forget(fingerprint);
}

/** Makes agent.pub match the key in use: a crash may have come between the two. */
export async function repairPublicKey(layout: Layout): Promise<void> {
  const pem = formatPublicKeyPem((await readSigningKey(layout)).publicKey);
  if ((await readText(layout.publicKey)) !== pem) await replaceFile(layout.publicKey, pem, { mode: 0o644 });
}
