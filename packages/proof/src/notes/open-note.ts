import { utf8 } from "../bytes.ts";
import { verifySignature } from "../keys/verify-signature.ts";
import { ProofError } from "../proof-error.ts";
import { cosignatureMessage, parseCosignature } from "./cosignature.ts";
import { parseNote, type NoteSignature } from "./note.ts";
import type { NoteVerifier } from "./verifier-key.ts";

export interface VerifiedSignature {
  verifier: NoteVerifier;
  /** For a cosignature: when its key says that it saw this checkpoint, in POSIX seconds. */
  timestamp_s?: number;
}

export interface OpenedNote {
  text: string;
  /** At least one. */
  verified: VerifiedSignature[];
  /**
   * Signatures by keys that are not among the verifiers. They are ignored, as the specification
   * requires.
   */
  unknown: NoteSignature[];
}

/**
 * Opens a C2SP signed note: checks every signature whose name and key id belong to a verifier.
 * Throws `malformed_note`, `note_signature_invalid` if one of them is wrong, or
 * `note_signature_missing` if there is none.
 */
export async function openNote(
  source: string | Uint8Array,
  verifiers: readonly NoteVerifier[],
): Promise<OpenedNote> {
  const { text, signatures } = parseNote(source);
  const opened: OpenedNote = { text, verified: [], unknown: [] };
  for (const signature of signatures) {
    const verifier = verifiers.find(
      ({ name, keyId }) => name === signature.name && keyId === signature.keyId,
    );
    if (verifier) opened.verified.push(await verify(text, signature.signature, verifier));
    else opened.unknown.push(signature);
  }
  if (opened.verified.length === 0)
    throw new ProofError(
      "note_signature_missing",
      `no signature by ${verifiers.map(({ name }) => name).join(" or ") || "a known key"}`,
    );
  return opened;
}

async function verify(
  text: string,
  signature: Uint8Array,
  verifier: NoteVerifier,
): Promise<VerifiedSignature> {
  const key = { algorithm: "ed25519", bytes: verifier.publicKey } as const;
  if (verifier.algorithm === "ed25519") {
    requireValid(await verifySignature(key, utf8(text), signature), verifier);
    return { verifier };
  }
  const { timestamp_s, signature: inner } = parseCosignature(signature);
  requireValid(await verifySignature(key, cosignatureMessage(timestamp_s, text), inner), verifier);
  return { verifier, timestamp_s };
}

function requireValid(holds: boolean, { name }: NoteVerifier): void {
  if (!holds) throw new ProofError("note_signature_invalid", `the signature by ${name} does not verify`);
}
