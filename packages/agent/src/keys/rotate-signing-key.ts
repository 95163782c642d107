import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatPublicKeyPem } from "@attestore/proof";
import { makeDirectory, moveDurably, writeDurably } from "../root/durable-write.ts";
import type { Layout } from "../root/layout.ts";
import { readSigningKey, readSigningKeyFile, type SigningKey } from "../root/signing-key.ts";
import { keepRotation, listRotations, signRotation } from "./rotation.ts";
import { readJson } from "../root/read-json.ts";
import type { Rotation } from "./rotation.ts";

export interface PreparedKey {
  readonly old: SigningKey;
  readonly next: SigningKey;
  /** The rotation's file, signed by both. */
  readonly statement: string;
}

/**
 * Makes a new signing key beside the one in use, and the statement in which the old one vouches for it. Called again it goes on
 * where it was: a key that lies there is taken, and a statement that names it too.
 */
export async function prepareSigningKey(
  layout: Layout,
  { agentId, orgId }: { readonly agentId: string; readonly orgId: string },
): Promise<PreparedKey> {
  const old = await readSigningKey(layout);
  const file = nextKeyFile(layout);
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync("ed25519");
    await writeDurably(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  }
  const next = await readSigningKeyFile(file);
  const before = await preparedStatement(layout, next);
  if (before !== null) return { old, next, statement: before };
  const change = { key: "signing", before: old.publicKey, after: next.publicKey } as const;
  const rotation = await signRotation({ agentId, orgId, at: new Date().toISOString(), change }, old, next);
  return { old, next, statement: await keepRotation(layout, rotation, "signing") };
}

/**
 * Puts the new key in the old one's place. Its public half is kept first, because receipts of the past are verified with it; the
 * rename is the one moment at which the key in use changes; agent.pub follows and is written again by whoever finds it stale.
 */
export async function takeIntoUse(layout: Layout, { old, next }: PreparedKey): Promise<string> {
  const retired = join(layout.keys, "retired");
  await makeDirectory(retired);
  const kept = join(retired, `${old.fingerprint.replace("SHA256:", "").replaceAll("/", "_")}.pub`);
  await writeDurably(kept, formatPublicKeyPem(old.publicKey), 0o644);
  await moveDurably(nextKeyFile(layout), layout.signingKey);
  await writeDurably(layout.publicKey, formatPublicKeyPem(next.publicKey), 0o644);
  return kept;
}

function nextKeyFile(layout: Layout): string {
  return join(layout.keys, "agent.next.key");
}

async function preparedStatement(layout: Layout, next: SigningKey): Promise<string | null> {
  const last = (await listRotations(layout)).findLast((file) => file.endsWith("-signing.json"));
  if (last === undefined) return null;
  const { by_new: byNew } = (await readJson(last)) as Rotation;
  return byNew?.signatures[0]?.keyid === next.fingerprint ? last : null;
}
