import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory, replaceJsonFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { envelopeToJson, PAYLOAD_TYPE, signEnvelope, type EnvelopeJson } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import type { SigningKey } from "../signer/signing-key.ts";
import { type Rotated, rotationStatement } from "../signer/rotation-statement.ts";

/**
 * A change of keys, signed by the previous signing key. A new signing key signs it too, which
 * proves that its private half exists.
 */
export interface Rotation {
  readonly v: 1;
  /** DSSE envelopes over the same in-toto statement. */
  readonly by_old: EnvelopeJson;
  readonly by_new: EnvelopeJson | null;
}

export async function signRotation(
  rotated: Rotated,
  old: Pick<SigningKey, "sign" | "fingerprint">,
  next: Pick<SigningKey, "sign" | "fingerprint"> | null,
): Promise<Rotation> {
  const payload = rotationStatement(rotated);
  const by = async (key: Pick<SigningKey, "sign" | "fingerprint">): Promise<EnvelopeJson> =>
    envelopeToJson(
      await signEnvelope({ payloadType: PAYLOAD_TYPE, payload, keyid: key.fingerprint, sign: key.sign }),
    );
  return { v: 1, by_old: await by(old), by_new: next === null ? null : await by(next) };
}

/** Kept for good: rotations lead from the first key to the current one. @returns the file */
export async function keepRotation(layout: Layout, rotation: Rotation, key: string): Promise<string> {
  const directory = join(layout.keys, "rotations");
  await makeDirectory(directory);
  const numbers = (await readdir(directory)).map((name) => Number(/^(\d{4})-/.exec(name)?.[1] ?? 0));
  const number = String(Math.max(0, ...numbers) + 1).padStart(4, "0");
  const file = join(directory, `${number}-${key}.json`);
  await replaceJsonFile(file, rotation);
  return file;
}

export async function listRotations(layout: Layout): Promise<string[]> {
  const directory = join(layout.keys, "rotations");
  const names = (await nullIfMissing(readdir(directory))) ?? [];
  return names
    .filter((name) => /^\d{4}-\w+\.json$/.test(name))
    .toSorted()
    .map((name) => join(directory, name));
}
