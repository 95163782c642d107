import {
  fromUtf8,
  type KeyRotation,
  MAX_KEY_ROTATION_SIZE,
  parseKeyRotation,
  parsePublicKeyFile,
  parseVerifierKey,
  ProofError,
  verifyKeyRotation,
  type NoteVerifier,
  type PublicKey,
} from "@attestore/proof";
import { CannotTell } from "./cannot-tell.ts";
import { readSmallFile } from "./files.ts";

const MAX_KEY_FILE = 16 * 1024;

/** The agent's key from a file. Throws CannotTell. */
export async function readPublicKey(path: string): Promise<PublicKey> {
  const bytes = await readSmallFile(path, MAX_KEY_FILE);
  return asKey(path, () => parsePublicKeyFile(fromUtf8(bytes)));
}

/** A change of a signing key, both keys' signatures over it verified. Throws CannotTell. */
export async function readRotation(path: string): Promise<KeyRotation> {
  const bytes = await readSmallFile(path, MAX_KEY_ROTATION_SIZE);
  try {
    return await verifyKeyRotation(parseKeyRotation(bytes));
  } catch (error) {
    if (error instanceof ProofError) throw new CannotTell("rotation_unreadable", `${path}: ${error.message}`);
    throw error;
  }
}

/** The log's key: the text itself, or a file that holds it. Throws CannotTell. */
export async function readLogKey(textOrPath: string): Promise<NoteVerifier> {
  const key = await readVerifierKey("--log-key", textOrPath);
  // A log signs the text of its checkpoints; a witness's key (cosignature/v1) is another thing.
  if (key.algorithm === "ed25519") return key;
  throw new CannotTell("key_unreadable", `${textOrPath}: this is a cosigner's key, not a log's`);
}

/** A witness's key, likewise. Throws CannotTell. */
export async function readWitnessKey(textOrPath: string): Promise<NoteVerifier> {
  const key = await readVerifierKey("--witness-key", textOrPath);
  if (key.algorithm === "cosignature/v1") return key;
  throw new CannotTell("key_unreadable", `${textOrPath}: this is a log's key, not a witness's`);
}

async function readVerifierKey(option: string, textOrPath: string): Promise<NoteVerifier> {
  const looksLikeKey = /^[^+]+\+[0-9a-f]{8}\+/.test(textOrPath);
  if (looksLikeKey) return asKey(option, () => parseVerifierKey(textOrPath));
  const bytes = await readSmallFile(textOrPath, MAX_KEY_FILE);
  return asKey(textOrPath, () => parseVerifierKey(fromUtf8(bytes).trim()));
}

function asKey<T>(source: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ProofError) throw new CannotTell("key_unreadable", `${source}: ${error.message}`);
    throw error;
  }
}
