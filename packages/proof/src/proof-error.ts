/**
 * What went wrong. `malformed_*`: the bytes do not follow the format. `*_invalid`: the bytes are
 * well formed, but the claim is wrong. `unknown_version`: a later version may understand it.
 */
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
  | "malformed_draw"
  | "malformed_rotation"
  | "not_a_receipt"
  | "unknown_version"
  | "not_canonicalizable"
  | "out_of_range"
  | "inclusion_invalid"
  | "consistency_invalid"
  | "draw_invalid"
  | "generation_invalid"
  | "note_signature_missing"
  | "note_signature_invalid"
  | "envelope_signature_invalid"
  | "envelope_keyid_mismatch"
  | "statement_invalid";

/**
 * The only error that this package throws on foreign input. Its message is safe to show to a
 * person.
 */
export class ProofError extends Error {
  readonly code: ProofErrorCode;

  constructor(code: ProofErrorCode, message: string) {
    super(message);
    this.name = "ProofError";
    this.code = code;
  }
}
