import {
  formatBytes,
  fromUtf8,
  MAX_BUNDLE_SIZE,
  type NoteVerifier,
  parsePublicKeyFile,
  parseReceipt,
  parseVerifierKey,
  ProofError,
  type PublicKey,
  type Receipt,
} from "@attestore/proof";
import { CannotTell, type KeyList, parseKeyList } from "@attestore/verifier/pack";

export type EvidenceErrorCode =
  | "too_large"
  | "empty"
  | "not_text"
  | "not_evidence"
  | "malformed_key"
  | "tlog_proof"
  | "sigstore_bundle";

/**
 * Why a file cannot serve as evidence. It is about the file, and never says that a receipt is
 * false.
 */
export class EvidenceError extends Error {
  readonly code: EvidenceErrorCode;

  constructor(code: EvidenceErrorCode, message: string) {
    super(message);
    this.name = "EvidenceError";
    this.code = code;
  }
}

export type Evidence =
  | { kind: "receipt"; receipt: Receipt }
  /** It claims to be a receipt, but cannot be a true one. */
  | { kind: "malformed_receipt"; message: string }
  | { kind: "agent_key"; key: PublicKey }
  | { kind: "log_key"; key: NoteVerifier }
  | { kind: "witness_key"; key: NoteVerifier }
  /** Of agents, for evidence packs. */
  | { kind: "key_list"; list: KeyList };

/** Larger files are not read at all. */
export const MAX_EVIDENCE_SIZE = MAX_BUNDLE_SIZE;

/** The first bytes of a ZIP file that is not empty. */
const ZIP_MAGIC = [0x50, 0x4b, 0x03, 0x04];

/** Whether a file begins like an evidence pack. The first four bytes are enough to tell. */
export function isPack(start: Uint8Array): boolean {
  return ZIP_MAGIC.every((byte, n) => start[n] === byte);
}

/** Recognises a small file by its content: a receipt or keys. Throws EvidenceError. */
export function readEvidence(name: string, bytes: Uint8Array): Evidence {
  if (bytes.length > MAX_EVIDENCE_SIZE)
    throw new EvidenceError(
      "too_large",
      `larger than ${formatBytes(MAX_EVIDENCE_SIZE)}; no receipt or key is that large`,
    );
  const text = textOf(bytes).trim();
  if (text === "") throw new EvidenceError("empty", "the file has no content");
  if (text.startsWith("c2sp.org/tlog-proof@"))
    throw new EvidenceError(
      "tlog_proof",
      "a tlog-proof does not contain its receipt. Use the receipt's bundle, rcpt_….json",
    );
  if (text.startsWith("{")) return readReceipt(text);
  return isKeyList(text) ? readKeyList(name, bytes) : readKey(text);
}

/** A list names its organisation, or has several keys. */
function isKeyList(text: string): boolean {
  if (text.includes("-----BEGIN")) return false;
  const lines = text.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  return lines.some((line) => /^\s*org[ \t]/.test(line)) || (lines.length > 1 && lines.every(looksLikeKey));
}

function readKeyList(name: string, bytes: Uint8Array): Evidence {
  try {
    return { kind: "key_list", list: parseKeyList(name, bytes, { kind: "list", where: name }) };
  } catch (error) {
    if (error instanceof CannotTell) throw new EvidenceError("malformed_key", error.message);
    throw error;
  }
}

/** Reads a key from pasted text or a file. Throws EvidenceError. */
export function readKey(
  source: string,
): Exclude<Evidence, { kind: "receipt" | "malformed_receipt" | "key_list" }> {
  const text = source.trim();
  try {
    if (!/^[^+\s]+\+[0-9a-f]{8}\+/.test(text)) return { kind: "agent_key", key: parsePublicKeyFile(text) };
    const key = parseVerifierKey(text);
    return { kind: key.algorithm === "ed25519" ? "log_key" : "witness_key", key };
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw text.includes("PRIVATE KEY") || looksLikeKey(text)
      ? new EvidenceError("malformed_key", error.message)
      : new EvidenceError("not_evidence", "neither a receipt nor a public key");
  }
}

function readReceipt(text: string): Evidence {
  try {
    return { kind: "receipt", receipt: parseReceipt(text) };
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code === "not_a_receipt" && text.includes("application/vnd.dev.sigstore.bundle"))
      throw new EvidenceError(
        "sigstore_bundle",
        "a Sigstore bundle does not contain the proof from our log. Use the receipt's own bundle, rcpt_….json",
      );
    if (["not_a_receipt", "malformed_json", "malformed_utf8", "unknown_version"].includes(error.code))
      throw new EvidenceError("not_evidence", error.message);
    return { kind: "malformed_receipt", message: error.message };
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new EvidenceError("not_text", "not a text file: neither a receipt nor a key");
  }
}

function looksLikeKey(text: string): boolean {
  return /^(-----BEGIN|ssh-|ecdsa-|[^+\s]+\+[0-9a-f]{8}\+)/.test(text);
}
