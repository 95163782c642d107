import {
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

export type EvidenceErrorCode =
  | "too_large"
  | "empty"
  | "not_text"
  | "not_evidence"
  | "malformed_key"
  | "tlog_proof"
  | "sigstore_bundle"
  | "evidence_pack";

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
  | { kind: "witness_key"; key: NoteVerifier };

/** Larger files are not read at all. */
export const MAX_EVIDENCE_SIZE = MAX_BUNDLE_SIZE;

/** The first bytes of a ZIP file that is not empty. */
const ZIP_MAGIC = [0x50, 0x4b, 0x03, 0x04];

/**
 * Throws EvidenceError for an evidence pack, which is not checked here. The first four bytes are
 * enough to tell.
 */
export function refusePack(start: Uint8Array): void {
  if (ZIP_MAGIC.every((byte, n) => start[n] === byte))
    throw new EvidenceError(
      "evidence_pack",
      "the browser does not check evidence packs and key lists. On a computer, run: attestore-verify PACK.zip --log-key log.vkey --keys LIST (or --key agent.pub of each agent)",
    );
}

/** Recognises a small file by its content: a receipt or a key. Throws EvidenceError. */
export function readEvidence(bytes: Uint8Array): Evidence {
  if (bytes.length > MAX_EVIDENCE_SIZE)
    throw new EvidenceError(
      "too_large",
      `larger than ${MAX_EVIDENCE_SIZE / 1024} KiB; no receipt or key is that large`,
    );
  refusePack(bytes);
  const text = textOf(bytes).trim();
  if (text === "") throw new EvidenceError("empty", "the file has no content");
  if (text.startsWith("c2sp.org/tlog-proof@"))
    throw new EvidenceError(
      "tlog_proof",
      "a tlog-proof does not contain its receipt. Use the receipt's bundle, rcpt_….json",
    );
  if (text.startsWith("{")) return readReceipt(text);
  return readKey(text);
}

/** Reads a key from pasted text or a file. Throws EvidenceError. */
export function readKey(source: string): Exclude<Evidence, { kind: "receipt" | "malformed_receipt" }> {
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
