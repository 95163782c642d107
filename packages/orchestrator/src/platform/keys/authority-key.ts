/** The P-256 key of the service's own CA, wherever its private half is. */
export interface AuthorityKey {
  /** SubjectPublicKeyInfo, DER. */
  spki: Uint8Array;
  /**
   * ECDSA over the message's SHA-256: r and s, 32 bytes each. Rejects if the key can't be used at
   * the moment.
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
}
