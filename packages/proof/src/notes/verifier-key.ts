import { sha256 } from "#sha256";
import { fromBase64, toBase64 } from "../base64.ts";
import { concatBytes, utf8 } from "../bytes.ts";
import { publicKeyFromBytes } from "../keys/public-key.ts";
import { ProofError } from "../proof-error.ts";
import { isKeyName } from "./note.ts";

/**
 * `ed25519`: a signature over the note's text (type 0x01). `cosignature/v1`: a timestamped
 * signature over a checkpoint (0x04).
 */
export type NoteAlgorithm = "ed25519" | "cosignature/v1";

/** A key that is trusted to sign notes. Use noteVerifier or parseVerifierKey to make one. */
export interface NoteVerifier {
  name: string;
  keyId: number;
  algorithm: NoteAlgorithm;
  /** The 32 bytes of an Ed25519 public key. */
  publicKey: Uint8Array;
}

const TYPE_BYTE: Record<NoteAlgorithm, number> = { ed25519: 0x01, "cosignature/v1": 0x04 };

/**
 * C2SP signed-note: the first four bytes of SHA-256(name || 0x0A || type || public key),
 * big-endian.
 */
export function noteKeyId(name: string, algorithm: NoteAlgorithm, publicKey: Uint8Array): number {
  const digest = sha256(concatBytes(utf8(`${name}\n`), Uint8Array.of(TYPE_BYTE[algorithm]), publicKey));
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0);
}

/** Makes a verifier. Throws `malformed_key`. */
export function noteVerifier(name: string, algorithm: NoteAlgorithm, publicKey: Uint8Array): NoteVerifier {
  if (!isKeyName(name))
    throw new ProofError("malformed_key", "a note's key name has no spaces and no plus sign");
  if (publicKeyFromBytes(publicKey).algorithm !== "ed25519")
    throw new ProofError("malformed_key", "a note's key is an Ed25519 key of 32 bytes");
  return { name, keyId: noteKeyId(name, algorithm, publicKey), algorithm, publicKey };
}

/** Parses a vkey: `<name>+<8 hex digits>+<base64 of type and key>`. Throws `malformed_key`. */
export function parseVerifierKey(text: string): NoteVerifier {
  const [, name = "", id = "", encoded = ""] =
    /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  let material: Uint8Array;
  try {
    material = fromBase64(encoded);
  } catch {
    return refuse("it is not of the form name+hash+base64");
  }
  const algorithm = (["ed25519", "cosignature/v1"] as const).find((each) => TYPE_BYTE[each] === material[0]);
  if (algorithm === undefined) return refuse("its type is neither Ed25519 (1) nor cosignature/v1 (4)");
  const verifier = noteVerifier(name, algorithm, material.slice(1));
  if (formatKeyId(verifier.keyId) !== id) refuse("its hash is not that of its name and key");
  return verifier;
}

/** Formats the text that parseVerifierKey accepts. */
export function formatVerifierKey({ name, keyId, algorithm, publicKey }: NoteVerifier): string {
  return `${name}+${formatKeyId(keyId)}+${toBase64(concatBytes(Uint8Array.of(TYPE_BYTE[algorithm]), publicKey))}`;
}

function formatKeyId(keyId: number): string {
  return keyId.toString(16).padStart(8, "0");
}

function refuse(why: string): never {
  throw new ProofError("malformed_key", `not a verifier key: ${why}`);
}
