/** What was wrong. `malformed_*`: the bytes are not of the format; `*_invalid`: well formed, and not true; `unknown_version`: a later version may know it. */
export type ProofErrorCode =
  | "malformed_hex"
  | "malformed_base64"
  | "malformed_utf8"
  | "malformed_json"
  | "malformed_key"
  | "malformed_note"
  | "malformed_checkpoint"
  | "malformed_cosignature"
  | "malformed_tlog_proof"
  | "malformed_tile"
  | "malformed_log_proof"
  | "malformed_leaf"
  | "malformed_envelope"
  | "malformed_bundle"
  | "malformed_evidence"
  | "malformed_event"
  | "malformed_rotation"
  | "not_a_receipt"
  | "unknown_version"
  | "not_canonicalizable"
  | "out_of_range"
  | "inclusion_invalid"
  | "consistency_invalid"
  | "note_signature_missing"
  | "note_signature_invalid"
  | "envelope_signature_invalid"
  | "envelope_keyid_mismatch"
  | "statement_invalid";

/** The only thing that this package throws on foreign input. Its message may be shown to a person. */
export class ProofError extends Error {
  readonly code: ProofErrorCode;

  constructor(code: ProofErrorCode, message: string) {
    super(message);
    this.name = "ProofError";
    this.code = code;
  }
}
