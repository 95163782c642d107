import { fromBase64, toBase64 } from "../base64.ts";
import { concatBytes, fromUtf8, isLongerThan } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";

/** A parsed C2SP signed note. Call openNote before you believe any of it. */
export interface Note {
  /** The signed text, including its final newline. */
  text: string;
  signatures: NoteSignature[];
}

export interface NoteSignature {
  name: string;
  keyId: number;
  /** The bytes after the key id. */
  signature: Uint8Array;
}

/**
 * Largest note in bytes. It has room for 16 post-quantum signatures, which signed-note asks for.
 */
export const MAX_NOTE_SIZE = 128 * 1024;
const MAX_SIGNATURES = 64;
const SIGNATURE_PREFIX = "— ";

/** Parses a C2SP signed note of at most 128 KiB and 64 signatures. Throws `malformed_note`. */
export function parseNote(source: string | Uint8Array): Note {
  if (isLongerThan(source, MAX_NOTE_SIZE)) refuse(`it is larger than ${MAX_NOTE_SIZE} bytes`);
  const note = typeof source === "string" ? source : decode(source);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!note.isWellFormed() || /[\u0000-\u0009\u000b-\u001f]/.test(note))
    refuse("it contains a control character or is not UTF-8");
  const split = note.lastIndexOf("\n\n");
  if (split < 0 || !note.endsWith("\n"))
    refuse("it does not consist of text, an empty line and signature lines");
  const lines = note.slice(split + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURES) refuse(`it has more than ${MAX_SIGNATURES} signatures`);
  return { text: note.slice(0, split + 1), signatures: lines.map(parseSignatureLine) };
}

/**
 * Builds a note from its text (ending in a newline) and signature lines from noteSignatureLine or
 * cosignatureLine. More lines may be appended to the result. Throws `malformed_note`.
 */
export function formatNote(text: string, signatureLines: readonly string[]): string {
  const note = `${text}\n${signatureLines.join("")}`;
  if (parseNote(note).text !== text) refuse("its text does not end in one newline");
  return note;
}

/** Formats `— name base64(key id || signature)` and a newline. */
export function noteSignatureLine(key: { name: string; keyId: number }, signature: Uint8Array): string {
  const id = new Uint8Array(4);
  new DataView(id.buffer).setUint32(0, key.keyId);
  return `${SIGNATURE_PREFIX}${key.name} ${toBase64(concatBytes(id, signature))}\n`;
}

/** Key names must not be empty or contain Unicode spaces, plus signs or control characters. */
export function isKeyName(name: string): boolean {
  return name.isWellFormed() && /^[^\p{White_Space}\p{Cc}+]+$/u.test(name);
}

function parseSignatureLine(line: string): NoteSignature {
  const [name = "", encoded = "", ...more] = line.slice(SIGNATURE_PREFIX.length).split(" ");
  if (!line.startsWith(SIGNATURE_PREFIX) || more.length > 0 || !isKeyName(name))
    refuse("a signature line is malformed");
  let bytes: Uint8Array;
  try {
    bytes = fromBase64(encoded);
  } catch {
    return refuse("a signature is not standard base64");
  }
  if (bytes.length < 5) refuse("a signature is too short");
  return {
    name,
    keyId: new DataView(bytes.buffer, bytes.byteOffset).getUint32(0),
    signature: bytes.slice(4),
  };
}

function decode(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes);
  } catch {
    return refuse("it is not UTF-8");
  }
}

function refuse(why: string): never {
  throw new ProofError("malformed_note", `not a signed note: ${why}`);
}
