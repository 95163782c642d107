export type DamageCode =
  /** SHA-256 of the ciphertext is not the recorded one. */
  | "digest_mismatch"
  /** It does not start like an age v1 file. */
  | "not_age"
  /** The age header is malformed, or its MAC does not verify. */
  | "header_damaged"
  /** A chunk of the age payload does not authenticate. */
  | "payload_damaged"
  /** The age payload stops before its final chunk. */
  | "truncated"
  /** Something follows the end of the age payload or of the last zstd frame. */
  | "trailing_data"
  /** It decrypts, but it is not a whole sequence of zstd frames. */
  | "zstd_damaged";

/** The backup's bytes are wrong. A restore test that meets this has run, and failed. */
export class DamagedCiphertext extends Error {
  readonly code: DamageCode;
  constructor(code: DamageCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DamagedCiphertext";
    this.code = code;
  }
}
