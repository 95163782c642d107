import { fromBase64, toBase64 } from "../base64.ts";
import { HASH_SIZE, type Hash } from "../bytes.ts";
import { parseUint64 } from "../uint64.ts";
import { ProofError } from "../proof-error.ts";
import { openNote, type VerifiedSignature } from "./open-note.ts";
import type { NoteVerifier } from "./verifier-key.ts";

export interface Checkpoint {
  origin: string;
  size: bigint;
  rootHash: Hash;
  /** Opaque extension lines. Attestore's logs never have any. */
  extensions: string[];
}

/**
 * Parses the text of a C2SP tlog-checkpoint, including its final newline. Throws
 * `malformed_checkpoint`.
 */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = "", sizeText = "", root = "", ...rest] = text.split("\n");
  const extensions = rest.slice(0, -1);
  if (rest.at(-1) !== "" || origin === "" || extensions.includes(""))
    refuse("it does not begin with three non-empty lines");
  const size = parseUint64(sizeText);
  if (size === undefined) return refuse("its tree size is not a decimal number");
  let rootHash: Hash;
  try {
    rootHash = fromBase64(root);
  } catch {
    return refuse("its root hash is not base64");
  }
  if (rootHash.length !== HASH_SIZE) refuse("its root hash is not 32 bytes");
  return { origin, size, rootHash, extensions };
}

/**
 * Formats the text of a checkpoint's note, which the log's key signs. Throws
 * `malformed_checkpoint`.
 */
export function formatCheckpoint(checkpoint: {
  origin: string;
  size: number | bigint;
  rootHash: Hash;
}): string {
  const { origin, size, rootHash } = checkpoint;
  const text = `${origin}\n${size}\n${toBase64(rootHash)}\n`;
  const parsed = parseCheckpoint(text);
  if (parsed.origin !== origin || parsed.extensions.length > 0) refuse("its origin is not one line");
  return text;
}

export interface OpenedCheckpoint extends Checkpoint {
  /** The note's text. Cosignatures sign it. */
  text: string;
  cosignatures: VerifiedSignature[];
}

/**
 * Opens a checkpoint that the log signed. Calls openNote, then checks that `log` is one of the
 * signers and that the origin is its name. `cosigners` only add their cosignatures to the result.
 * Throws what openNote throws, or `malformed_checkpoint`.
 */
export async function openCheckpoint(
  note: string | Uint8Array,
  log: NoteVerifier,
  cosigners: readonly NoteVerifier[] = [],
): Promise<OpenedCheckpoint> {
  const { text, verified } = await openNote(note, [log, ...cosigners]);
  if (!verified.some(({ verifier }) => verifier === log))
    throw new ProofError("note_signature_missing", `no signature by ${log.name}`);
  const checkpoint = parseCheckpoint(text);
  if (checkpoint.origin !== log.name) refuse(`its origin is ${checkpoint.origin}, its key is ${log.name}'s`);
  return { ...checkpoint, text, cosignatures: verified.filter(({ verifier }) => verifier !== log) };
}

function refuse(why: string): never {
  throw new ProofError("malformed_checkpoint", `the checkpoint is malformed: ${why}`);
}
