import { existsSync } from "node:fs";
import { keyRotationFromJson, type KeyRotationJson } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";
import { listRotations } from "./rotation.ts";

export interface SigningRotationFile {
  readonly file: string;
  readonly rotation: KeyRotationJson;
  /** Fingerprints. */
  readonly by_old: string;
  readonly by_new: string;
}

/** Null before the first. */
export async function newestSigningRotation(layout: Layout): Promise<SigningRotationFile | null> {
  const file = (await listRotations(layout)).findLast((each) => each.endsWith("-signing.json"));
  if (file === undefined) return null;
  const { by_old, by_new } = (await readJson(file)) as KeyRotationJson;
  const rotation = keyRotationFromJson({ by_old, by_new });
  const keyid = ({ signatures }: KeyRotationJson["by_old"]): string => signatures[0].keyid ?? "";
  return { file, rotation, by_old: keyid(by_old), by_new: keyid(by_new) };
}

/** A new key is in use, and the service has not confirmed that it knows it. */
export async function pendingRotation(layout: Layout): Promise<SigningRotationFile | null> {
  const newest = await newestSigningRotation(layout);
  if (newest === null || existsSync(acceptedFile(newest))) return null;
  const { fingerprint } = await readSigningKey(layout);
  return newest.by_new === fingerprint ? newest : null;
}

/** Beside the rotation, with the service's answer. */
export function acceptedFile({ file }: Pick<SigningRotationFile, "file">): string {
  return file.replace(/\.json$/, ".accepted.json");
}
